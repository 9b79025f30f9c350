"""The one loop: poll, decode, featurize, score, learn, measure, write, checkpoint, commit."""

import sys
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, Protocol

from streamlin.checkpoint.run_state import RunState
from streamlin.config import PipelineConfig, RunConfig
from streamlin.errors import ConfigError, StreamlinError
from streamlin.evaluation import Predictions
from streamlin.evaluation.drift import describe_falls
from streamlin.evaluation.report import report_of
from streamlin.events import Batch, Position, Source
from streamlin.formats.base import Format
from streamlin.model import Features, Learned
from streamlin.registry import connector
from streamlin.running.background_tasks import BackgroundTasks
from streamlin.running.checkpoint_requests import CheckpointRequests
from streamlin.running.lag import LagWatch, lags
from streamlin.running.read_ahead import ReadAhead
from streamlin.running.unsaved_progress import UnsavedProgress
from streamlin.streams.addresses import Address, parse_address
from streamlin.streams.interleaving import Interleaved
from streamlin.streams.opening import open_source
from streamlin.streams.overlap import check_overlap
from streamlin.streams.prediction_lines import PredictionLines
from streamlin.streams.reader import Portion, Reader
from streamlin.streams.sinks import Outputs
from streamlin.streams.stage_times import StageTimes

_AHEAD = 3
"""Portions read before they are needed: enough to keep both threads busy, few enough to hold."""
_SMALL = 16
"""A batch of less than this part of a full one comes from a live source that gives what it has."""
_TURN = 1000
"""Records of one source that are read before it is the other's turn."""
_EXTERNAL_MODELS_BATCH = 250
"""Events that a stop may have to wait for; an external model may take milliseconds for each."""
_PATIENCE = 0.05
"""Seconds without news after which what was written is handed to readers."""
_SWITCH_INTERVAL = 0.0005
"""Seconds until a thread that decodes gives way to the one that learns; the interpreter's 5 ms are several batches."""


class Progress(Protocol):
    """Who shows how far a run is."""

    def update(self, run: "Run") -> None:
        """Called at the start, after every batch, and whenever there is nothing to do."""

    def notice(self, line: str) -> None:
        """Show one line; called from any thread."""


class OpenSource(Source, Protocol):
    """A source that was opened elsewhere. key : what a checkpoint calls it. format : of its records."""

    @property
    def key(self) -> str: ...

    @property
    def format(self) -> Format: ...


class Watcher:
    """Who watches a run besides. Called on the thread that learns, but for `notice`; what is not defined is nothing."""

    def update(self, run: "Run") -> None:
        """As that of `Progress`."""

    def learned(self, learned: Learned) -> None:
        """Called with what was learned of every batch."""

    def notice(self, line: str) -> None:
        """As that of `Progress`."""

    def finish(self, run: "Run", report: dict[str, Any]) -> None:
        """Called when the run has ended, in whatever way, with its report."""


class Run:
    """A source, the state that learns from it, and the sinks.

    Parameters
    ----------
    config : what to do; `config.source.url` must be there, unless there is a `source`.
    progress : shows how far it is.
    state : what goes on learning, of the same configuration, and stays open behind the run; None: a state of its own.
    source : is open already, and read instead; it is closed with the run.
    watchers : are told the same, and more.
    limit : events after which to stop; None: never.
    previous : resume from the checkpoint before the last.
    stop : when set, also by another thread, the run ends in good order.

    Raises
    ------
    ConfigError, ConnectorError, CheckpointError : before the first event, where something can't be used.
    """

    def __init__(
        self,
        config: RunConfig,
        progress: Progress,
        *,
        state: RunState | None = None,
        source: OpenSource | None = None,
        watchers: Sequence[Watcher] = (),
        limit: int | None = None,
        previous: bool = False,
        stop: threading.Event | None = None,
    ) -> None:
        self.stop = stop if stop is not None else threading.Event()
        self.progress, self.watchers, self.seconds = progress, tuple(watchers), 0.0
        self.stages, self.batches, self.batch_size = StageTimes(), 0, 0
        address = None if source is not None else parse_address(config.source.needed_url(), "stdin")
        if state is None and address is not None:
            config = _with_references(config, connector("sources", address.scheme))
        self.config = config
        if address is not None:
            check_overlap(address, config)
        self._unsaved = UnsavedProgress(config.checkpoint)
        self._requests = CheckpointRequests(partial(self._save, wait=True))
        self._lag_watch = LagWatch()
        self._open = ExitStack()  # closes the last one first; one that fails keeps no other open
        try:
            self.state = RunState(config, previous) if state is None else state
            if state is None:
                self._open.callback(self.state.close)
            self.model = self.state.model
            self._resumed_events = self.model.prequential.events
            self._readers: list[Reader] = []
            if source is not None:
                self._readers.append(self._reader_of(source, limit))
            if address is not None:
                self._readers.append(self._reader(address, config.delayed_labels.enabled, limit))
            self.source = self._readers[0].source
            if config.delayed_labels.url is not None:
                self._readers.append(self._reader(parse_address(config.delayed_labels.url, "stdin"), True))
            if previous:
                self.state.go_back()
            sinks, lengths = config.sinks, self.state.lengths
            self._outputs = Outputs(sinks.predictions, sinks.dead_letters, lengths, self.notice, config.settings_of)
            self._open.callback(self._outputs.close)
            self._writer = BackgroundTasks(config.pipeline.threads > 1)
            self._open.callback(self._writer.close)
            if self._outputs.commit and getattr(self.source, "shared", False):
                # It commits before the checkpoint is written; what a crash in between undoes, nobody would learn.
                raise ConfigError("kafka: transactional= goes with assignment=all only")
            self._turns = Interleaved(self._readers) if len(self._readers) > 1 else None
            if self._turns is not None:
                self._open.callback(self._turns.close)
            self._lines = PredictionLines(self.model.names, self.model.labels)
            if self.state.is_kept and (self._outputs.new or self.state.number == 0):
                self._save(wait=True)  # so that a kill before the next one finds the sinks' lengths
        except BaseException:
            self.close()
            raise

    def run(self) -> dict[str, Any]:
        """Run to the source's end, the limit, or until `stop` is set; the report. Errors as of `steps`."""
        for _ in self.steps():
            pass
        return self.report()

    def steps(self) -> Generator[tuple[Batch, Predictions], None, None]:
        """Run, and give each batch, once it is learned, with the predictions that were made before.

        Whoever closes the iterator ends the run in good order.

        Raises
        ------
        StreamlinError : the source or a sink failed for good, or there are too many labels. What came before is in the
            checkpoint, unless a sink failed.
        """
        begin, interval = time.perf_counter(), sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_INTERVAL)
        portions, ahead = self._requests.watch(iter(self._turns or self._readers[0])), None
        if self.config.pipeline.threads > 1:
            ahead = ReadAhead(portions, _AHEAD, _PATIENCE, self.stop, self._is_small)
            portions = iter(ahead)
        failure: StreamlinError | None = None
        try:
            self._tell()
            while not self.stop.is_set():
                try:
                    wanted = self._requests.waiting  # before the look: what was given before that is found by it
                    portion = next(portions)
                    if portion is not None:
                        self.model.admit(portion.batch)
                except StopIteration:
                    break
                except StreamlinError as error:  # nothing of the portion is learned; a sink's error is raised below
                    failure = error
                    break
                learned = self._step(portion)
                if portion is None and wanted:
                    self._requests.meet()
                self.seconds = time.perf_counter() - begin
                self._tell()
                if learned is not None:
                    try:
                        yield learned
                    except GeneratorExit:
                        break
            self.stop.set()
            while ahead is not None and not ahead.join(_PATIENCE):
                self._requests.meet()  # nothing more is learned, and the source waits
        finally:
            self.stop.set()
            self._requests.end()
            if ahead is not None:
                ahead.join()
            sys.setswitchinterval(interval)
        if self._unsaved:
            self._save(wait=True)
        else:
            self.state.wait()
        self.seconds = time.perf_counter() - begin
        self._tell()
        if failure is not None:
            raise failure

    def notice(self, line: str) -> None:
        """Tell all who watch a line; from any thread."""
        for watcher in (self.progress, *self.watchers):
            watcher.notice(line)

    def report(self, details: bool = True) -> dict[str, Any]:
        """What was measured, JSON-able. All counts but the seconds and their rate go back to before a resume.

        details : False leaves out what is long.
        """
        report = report_of(self.model.prequential, self.model.labels, details)
        pace = {"seconds": self.seconds, "events_per_second": self.events_per_second}
        counts = {key: report.pop(key) for key in ("events", "labelled", "unlabelled", "dead_letters")}
        lag = self.lag()
        delayed = self.model.delayed_labels
        more = ({} if lag is None else {"lag": lag}) | ({} if delayed is None else {"delayed_labels": delayed.report()})
        return counts | pace | more | report

    def lag(self) -> dict[str, int] | None:
        """Events that wait in each part of the source; None where it can't know."""
        extent = getattr(self.source, "extent", None)
        return None if extent is None else lags(extent(), self._positions_now(self._readers[0].key))

    @property
    def writes_to_stdout(self) -> bool:
        """Whether events go to standard output."""
        return self._outputs.to_stdout

    @property
    def events_per_second(self) -> float | None:
        """Events of this run by its seconds; None before it began."""
        events = self.model.prequential.events - self._resumed_events
        return events / self.seconds if self.seconds > 0 else None

    def close(self) -> None:
        """Close source, sinks and checkpoint; what is in no checkpoint by now will be learned again."""
        self.stop.set()
        self._open.close()

    def _step(self, portion: Portion | None) -> tuple[Batch, Predictions] | None:
        """Deal with a portion; what was predicted, where there was something to predict."""
        if portion is None:
            self._writer.do(self._outputs.flush, at_once=True)
            self._save_if_due()
            return None
        if portion.count and self._unsaved.begins:
            self._save(wait=True)
        learned = self._learn(portion) if len(portion.batch) else None
        if portion.dead:
            self._writer.do(self._outputs.write_dead, portion.dead, portion.records)
        self.model.prequential.count_records(len(portion.dead), portion.tombstones, portion.lost)
        self._unsaved.add(portion, self.state.positions.get(portion.source, {}))
        self._save_if_due()
        return learned

    def _learn(self, portion: Portion) -> tuple[Batch, Predictions]:
        begin, batch = time.perf_counter(), portion.batch
        with self.state.lock:
            given, predictions = self.model.step(batch, portion.features)
        self.stages.add("learn", begin)
        self.batches += 1
        self.batch_size = len(batch)
        for line in [*self.model.take_news(), *describe_falls(self.model.prequential.new_alarms)]:
            self.notice(line)
        if self._outputs.predictions is not None:
            self._writer.do(self._write, given, predictions, at_once=self._is_small(portion))
        for watcher in self.watchers:
            watcher.learned(self.model.learned)
        return given, predictions

    def _is_small(self, portion: Portion) -> bool:
        return len(portion.batch) * _SMALL < self.config.pipeline.batch_size

    def _write(self, batch: Batch, predictions: Predictions) -> None:
        begin = time.perf_counter()
        self._outputs.write(self._lines.encode(batch, predictions), batch)
        self.stages.add("write", begin)

    def _featurize(self, batch: Batch) -> Features:
        begin = time.perf_counter()
        features = self.model.featurize(batch)
        self.stages.add("featurize", begin)
        return features

    def _tell(self) -> None:
        self.progress.update(self)
        for watcher in self.watchers:
            watcher.update(self)

    def _save_if_due(self) -> None:
        now = time.monotonic()
        if self._unsaved.is_due(now):
            self._save()
        self.state.check()
        if self._lag_watch.due(now):
            line = self._lag_watch.look(now, sum((self.lag() or {}).values()))
            if line is not None:
                self.notice(line)

    def _save(self, wait: bool = False) -> None:
        """Flush the sinks, write the checkpoint, commit to the source: in this order, or a crash loses something.

        wait : until that is done; else the writing goes on beside the run.
        """
        begin = time.perf_counter()
        positions = {reader.key: self._positions_now(reader.key) for reader in self._readers}
        self.state.positions |= positions
        self._writer.wait()
        self.state.lengths = self._outputs.sync(positions[self._readers[0].key])
        self._unsaved.clear()
        if not self.state.is_kept:
            self._commit(positions, 0)
            return
        self.state.save(partial(self._commit, positions), wait)
        self.stages.add("checkpoint", begin)
        for line in self.model.take_news():  # of external models that could not be saved
            self.notice(line)

    def _commit(self, positions: Mapping[str, Mapping[str, Position]], number: int) -> None:
        """Tell the sources, but where a sink commits: late as it is, this one would undo the sink's next one."""
        for reader in self._readers[self._outputs.commit :]:
            reader.commit(positions[reader.key], number)

    def _positions_now(self, source: str) -> dict[str, Position]:
        """Where each part of a source goes on behind what was dealt with."""
        return self.state.positions.get(source, {}) | self._unsaved.positions(source)

    def _reader(self, address: Address, delayed_labels: bool, limit: int | None = None) -> Reader:
        """Open a source; it is closed with the run."""
        own_key = getattr(connector("sources", address.scheme), "key", None)
        key = address.key if own_key is None else f"{address.scheme}:{own_key(address.address)}"
        positions = dict(self.state.positions.get(key, {}))
        save = partial(self._checkpoint_for_source, key)
        source, decoder, pace = open_source(
            address, self.config, positions, self.notice, self.stop, save, delayed_labels
        )
        reader = Reader(source, decoder, self._featurize, self._pipeline, limit, pace, self.stop, key, self.stages)
        self._open.callback(reader.close)
        return reader

    def _reader_of(self, source: OpenSource, limit: int | None) -> Reader:
        reader = Reader(
            source, source.format, self._featurize, self._pipeline, limit, None, self.stop, source.key, self.stages
        )
        self._open.callback(reader.close)
        return reader

    @property
    def _pipeline(self) -> PipelineConfig:
        """As configured, but with batches small enough where more than speed depends on them."""
        pipeline = self.config.pipeline
        turn = _TURN if self.config.delayed_labels.url is not None else pipeline.batch_size
        patience = _EXTERNAL_MODELS_BATCH if self.model.external_models else pipeline.batch_size
        return pipeline.model_copy(update={"batch_size": min(pipeline.batch_size, turn, patience)})

    def _checkpoint_for_source(self, key: str) -> Mapping[str, Position]:
        """See `streamlin.events.SourceContext.checkpoint`; nothing where the run has failed."""
        if not self._requests.ask():
            return {}
        for reader in self._readers:
            if reader.key == key:
                reader.tell_source()
        return self._positions_now(key)


def _with_references(config: RunConfig, source_class: Any) -> RunConfig:
    """A source whose events carry another's predictions has them measured too."""
    field = getattr(source_class, "reference_field", None)
    if field is None or field in config.evaluation.references:
        return config
    references = (*config.evaluation.references, field)
    return config.model_copy(update={"evaluation": config.evaluation.model_copy(update={"references": references})})
