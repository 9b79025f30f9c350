"""Frames of a schema registry: a byte 0, the schema's id in four bytes, then Avro, Protobuf or JSON."""

import numpy as np

from streamlin.events import Records
from streamlin.formats.utf8 import Indices

_MAGIC, _LENGTH = b"\0", 5
_MOST = 1 << 20
"""Ids are given one after the other; those from here on are rather two NULs before a text."""
_BLANKS = b"\0 \t\r\n"


def frames(records: Records, kept: Indices) -> dict[int, str]:
    """Errors by number, of the kept records that begin like a frame."""
    if _MAGIC not in records.data:
        return {}
    buffer = np.frombuffer(records.data, np.uint8)
    long_enough = kept[records.ends[kept] - records.starts[kept] > _LENGTH]
    found = long_enough[buffer[records.starts[long_enough]] == 0].tolist()
    ids = {i: _schema_id(records[i]) for i in found}
    return {
        i: f"begins like a schema registry's frame, id {number}; "
        "write the topic without the registry's serializer, or convert it to plain JSON"
        for i, number in ids.items()
        if number
    }


def _schema_id(record: bytes) -> int:
    """0 if the record is no frame; JSON behind NULs and blanks is read as it is."""
    number = int.from_bytes(record[1:_LENGTH])
    is_json = not record[:_LENGTH].strip(_BLANKS) and record[_LENGTH:].lstrip().startswith(b"{")
    return number if number < _MOST and not is_json else 0
