"""CSV and TSV (RFC 4180); the columns are named by a header or by `columns=`."""

from collections.abc import Mapping, Sequence

from streamlin.config import FieldsConfig
from streamlin.errors import ConfigError, DecodeError, RecordError
from streamlin.events import Batch, Event, Records, single_records
from streamlin.formats.base import Format
from streamlin.formats.cells import Cells, batch_of_cells, wanted_names
from streamlin.formats.csv_framing import CsvFraming
from streamlin.formats.csv_table import Table
from streamlin.formats.framing import Lines
from streamlin.formats.utf8 import BOM, Indices, check_utf8, spans, utf8

_DELIMITERS = ",;\t|"
_SPELLED = {r"\t": "\t", "tab": "\t"}


class CsvFormat(Format):
    """Rows of cells.

    Options: `delimiter`, one ASCII character or `tab`; `header=false` for input without a header line; `columns=a,b,c`,
    the names of the columns. With `columns` the input has no header, unless `header=true`: then it is skipped.
    `quotes=false` reads quotes as text.
    """

    name = "csv"
    delimiter = ","
    quotes = True

    def __init__(self, options: Mapping[str, str], fields: FieldsConfig, extra: Sequence[str]) -> None:
        self.columns = _columns(options.get("columns"))
        header = _switch("header", options.get("header"), default=self.columns is None)
        if not header and self.columns is None:
            raise ConfigError("header=false needs columns=a,b,c, the names of the columns")
        self.delimiter = _delimiter(options.get("delimiter", self.delimiter))
        self.quotes = _switch("quotes", options.get("quotes"), default=self.quotes)
        self.framing = CsvFraming(ord(self.delimiter), header) if self.quotes else Lines(header)
        self._fields, self._extra = fields, extra
        self._known: tuple[bytes | None, tuple[str, ...]] | None = None
        if self.columns is not None:
            self._check(self.columns, "columns")

    def batch(self, records: Records, kept: Indices) -> Batch:
        """See `Format`. Raises ConfigError if a needed header is missing, or has no column for the text."""
        columns = self._columns_of(records) if kept.size else self._own_columns()
        starts, ends = spans(records, kept)
        check_utf8(records.data, starts, ends)
        table = Table(records.data, starts, ends, ord(self.delimiter), len(columns), quotes=self.quotes)
        cells: dict[str, Cells] = {
            name: table.column(columns.index(name))
            for name in wanted_names(self._fields, self._extra)
            if name in columns
        }
        return batch_of_cells(
            *(records, kept, cells, self._fields, self._extra),
            per_second=self.per_second,
            delayed_labels=self.delayed_labels,
        )

    def take_delayed_labels(self) -> None:
        """See `Format`. The label of an earlier text is a row with an id and a label whose texts are empty."""
        self.delayed_labels = True

    def encode(self, event: Event) -> bytes:
        """The row of an event, in the order of `columns`, or of `encode_header`."""
        columns = self.columns or self._own_columns()
        values = self._values(event)
        for name in values:
            if name not in columns:
                raise RecordError(f"no column '{name}' for {values[name]!r}; the columns are {', '.join(columns)}")
        row = self._row([values.get(name, "") for name in columns])
        if not self.quotes and (b"\n" in row or row.endswith(b"\r") or not row):
            raise RecordError(f"{self.name} without quotes can't hold this event: it would not be one line")
        records = single_records([row])
        records.header = self.encode_header()
        self.check_reads_back(records, event)
        return row

    def encode_header(self) -> bytes:
        """The header line of the rows that `encode` returns."""
        return self._row(self.columns or self._own_columns())

    def _columns_of(self, records: Records) -> tuple[str, ...]:
        """The column names of these records."""
        if self.columns is not None:
            return self.columns
        if self._known is None or self._known[0] != records.header:
            self._known = records.header, self._read_header(records.header, records.part)
        return self._known[1]

    def _read_header(self, header: bytes | None, part: str) -> tuple[str, ...]:
        if header is None:
            raise ConfigError(f"{part} has no header line; name its columns by columns=a,b,c")
        line = single_records([header.removeprefix(BOM)])
        try:
            check_utf8(line.data, line.starts, line.ends)
            width = header.count(self.delimiter.encode()) + 1
            table = Table(
                line.data, line.starts, line.ends, ord(self.delimiter), width, exact=False, quotes=self.quotes
            )
            columns = tuple(name for i in range(table.n_cells) for name in table.column(i))
        except DecodeError as error:
            raise ConfigError(f"the header of {part} can't be read: {error}") from None
        self._check_delimiter(columns, part)
        self._check(columns, f"the header of {part}")
        return columns

    def _check_delimiter(self, columns: tuple[str, ...], part: str) -> None:
        """Raise ConfigError if the header is one cell that another delimiter divides."""
        if len(columns) != 1:
            return
        other = max(_DELIMITERS, key=columns[0].count)
        if columns[0].count(other) and columns[0] not in self._fields.text:
            name = "tab" if other == "\t" else other
            raise ConfigError(
                f"the header of {part} is one cell, {columns[0]!r}; its delimiter seems to be {other!r}: "
                f"add the option delimiter={name}"
            )

    def _check(self, columns: tuple[str, ...], where: str) -> None:
        """Check that no name is repeated and that all text fields are columns."""
        for name in columns:
            if name and columns.count(name) > 1:
                raise ConfigError(f"column '{name}' occurs twice in {where}")
        for name in self._fields.text:
            if name not in columns:
                raise ConfigError(f"no column '{name}' in {where} ({', '.join(columns)}); set fields.text to one")

    def _own_columns(self) -> tuple[str, ...]:
        return tuple(wanted_names(self._fields, self._extra))

    def _values(self, event: Event) -> dict[str, str]:
        """Column -> cell, without missing values; each of several text fields gets one line of the text."""
        fields = self._fields
        values = {name: value for name, value in event.extra.items() if value is not None}
        values |= zip(fields.text, event.text.split("\n", len(fields.text) - 1), strict=False)
        if event.label is not None:
            values[fields.label] = event.label
        if event.id is not None:
            values[fields.id] = event.id
        if event.weight != 1.0:
            values[fields.weight] = repr(float(event.weight))
        if event.time is not None:
            values[fields.time] = repr(float(event.time))
        return values

    def _row(self, cells: Sequence[str]) -> bytes:
        if not self.quotes:
            return utf8(self.delimiter.join(cells))
        return utf8(self.delimiter.join(map(self._quoted, cells)) or '""')

    def _quoted(self, cell: str) -> str:
        special = cell.startswith(("\ufeff", "\0")) or any(mark in cell for mark in (self.delimiter, '"', "\r", "\n"))
        return '"' + cell.replace('"', '""') + '"' if special else cell


class TsvFormat(CsvFormat):
    """CSV with tabs as delimiters, in which quotes are text unless `quotes=true`."""

    name = "tsv"
    delimiter = "\t"
    quotes = False


def _columns(value: str | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    columns = tuple(name.strip() for name in value.split(","))
    if "" in columns:
        raise ConfigError(f"columns={value} has an empty name; expected names separated by single commas")
    return columns


def _delimiter(value: str) -> str:
    delimiter = _SPELLED.get(value, value)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise ConfigError(f"invalid delimiter {value!r}: expected one ASCII character that is not a quote or line end")
    return delimiter


def _switch(key: str, value: str | None, default: bool) -> bool:
    if value not in (None, "true", "false"):
        raise ConfigError(f"{key}={value}: expected true or false")
    return default if value is None else value == "true"
