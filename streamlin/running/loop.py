"""The one loop: poll, decode, featurize, score, learn, evaluate, write, checkpoint, commit."""

import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import Any

from streamlin.asking.lines import WantedLines
from streamlin.checkpoint.run_state import RunState
from streamlin.config import RunConfig
from streamlin.errors import ConfigError, StreamlinError, redacted, spelled
from streamlin.evaluation import Predictions
from streamlin.evaluation.drift import describe_falls
from streamlin.evaluation.report import report_of
from streamlin.events import Batch, Position
from streamlin.model import Features
from streamlin.registry import connector
from streamlin.running.admission import new_admission
from streamlin.running.background_tasks import BackgroundTasks
from streamlin.running.beside_metrics import beside_metrics
from streamlin.running.checkpoint_requests import CheckpointRequests
from streamlin.running.feature_threads import FeatureThreads
from streamlin.running.hosting import hosting
from streamlin.running.inputs_and_outputs import inputs_of, outputs_of
from streamlin.running.lag import LagMonitor, lags
from streamlin.running.named_fields import NamedFields
from streamlin.running.read_ahead import DEPTH, IDLE_SECONDS, ReadAhead, short_turns
from streamlin.running.readers import OpenSource, Readers, with_references
from streamlin.running.round_limits import RoundLimits
from streamlin.running.saving import RunSaver
from streamlin.running.sharded_reading import ShardedReading
from streamlin.running.similar_labels import SimilarLabels
from streamlin.running.source_progress import SourceProgress
from streamlin.running.tagged_texts import TaggedTexts
from streamlin.running.unsegmented_texts import UnsegmentedTexts
from streamlin.running.upcoming import Upcoming
from streamlin.running.watching import Progress, Watcher
from streamlin.running.within_limits import WithinLimits
from streamlin.sharding.hosts import Hosts
from streamlin.sharding.model import ShardedModel
from streamlin.sharding.rounds import Round
from streamlin.streams.addresses import parse_address
from streamlin.streams.interleaving import Interleaved
from streamlin.streams.overlap import refuse_overlaps
from streamlin.streams.read_records import ReadRecords
from streamlin.streams.reader import Portion, are_few
from streamlin.streams.sinks import Sinks
from streamlin.streams.stage_times import StageTimes
from streamlin.streams.time_units import TimeUnits


class Run:
    """A source, the state that learns from it, and the sinks.

    Parameters
    ----------
    config : what to do; needs `config.source.url`, unless a `source` is given.
    progress : shows how far the run is.
    state : a state of the same configuration to continue, which stays open after the run; None: a new one.
    source : an open source, which is read instead; it is closed with the run.
    watchers : get the same calls as `progress`, and more.
    limit : events after which to stop; None: never.
    previous : resume from the checkpoint before the last.
    stop : when set, also by another thread, the run ends cleanly.
    pass_over : see `WithinLimits`.

    Raises
    ------
    ConfigError, ConnectorError, CheckpointError : before the first event, if something can't be used.
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
        pass_over: bool | None = None,
    ) -> None:
        self.stop = stop if stop is not None else threading.Event()
        self.progress, self.watchers, self.seconds = progress, tuple(watchers), 0.0
        self.stages, self.batches, self.batch_size = StageTimes(), 0, 0
        address = None if source is not None else parse_address(config.source.needed_url(), "stdin")
        if state is None and address is not None:
            config = with_references(config, connector("sources", address.scheme))
        self.config = config
        refuse_overlaps(inputs_of(config, address is not None), outputs_of(config))
        self._requests = CheckpointRequests(lambda: self._saver.save(wait=True))
        self._lag_monitor = LagMonitor()
        self._open = ExitStack()  # closes the last one first, and the others even if one fails
        try:
            self.state = self._open.enter_context(closing(RunState(config, previous))) if state is None else state
            self.model = self.state.model
            self.admission = new_admission(self.model, config)
            self._within_limits = WithinLimits(
                self.admission, self.model.featurize, pass_over, self.notice, self._label_rule
            )
            self._round_limits = RoundLimits(self.model, self.admission, self._label_rule)
            self._resumed_events = self.model.prequential.events
            self._named_fields = NamedFields(config, self.notice)
            self._similar_labels, self._time_units = SimilarLabels(), TimeUnits(self.notice)
            self._unsegmented_texts = UnsegmentedTexts(view.config for view in self.model.views.values())
            self._feature_threads: FeatureThreads | None = None
            if config.pipeline.threads > 2 and config.cluster.workers is None:
                threads = FeatureThreads(self._find_features, config.pipeline.threads - 1)
                self._feature_threads = self._open.enter_context(closing(threads))
            readers = Readers(
                *(config, self.model, self.state.positions, self._featurize),
                *(self.notice, self.stop, self.stages, self._checkpoint_for_source),
            )
            self._full_batch = readers.batch_size
            self._shards: ShardedReading | None = None
            self._hosts: Hosts | None = None
            if isinstance(self.model, ShardedModel):
                self._shards = ShardedReading(self.state, self.model, readers, address, source, limit, self.stop)
                self._open.callback(self._shards.close)
                if config.cluster.workers is not None:
                    self._hosts = self._open.enter_context(hosting(config, self.model, self.notice))
            opened = readers.open_all(address, source, limit) if self._shards is None else self._shards.readers
            self._readers = [self._open.enter_context(closing(reader)) for reader in opened]
            self._source_progress = SourceProgress(self._readers[0])
            advice = {kind: line for reader in self._readers for kind, line in reader.decoder.advice.items()}
            self._read = ReadRecords(self.notice, advice)
            self._tagged_texts = TaggedTexts(self._readers[0].decoder.tag_hint)
            self._resumed = bool(self.state.positions.get(self._readers[0].key))
            if previous:
                self.state.restore_previous()
            self._open_outputs()
        except BaseException:
            self.close()
            raise

    def _open_outputs(self) -> None:
        """Open the sinks and what saves the run; save it once, if its checkpoint is new or does not know a sink."""
        config, opened = self.config, self._open.enter_context
        sinks, lengths = config.sinks, self.state.lengths
        self._sinks = opened(
            closing(
                Sinks(
                    *(sinks.predictions, sinks.dead_letters, lengths, self.notice, config.settings_of),
                    labels_wanted=sinks.labels_wanted,
                )
            )
        )
        self._writer = opened(closing(BackgroundTasks(config.pipeline.threads > 1)))
        if self._sinks.commit_positions and getattr(self._readers[0].source, "shared", False):
            # The commit comes before the checkpoint is written; no process would learn what a crash in between undoes.
            raise ConfigError("kafka: transactional= needs assignment=all")
        if self._sinks.commit_positions and self._shards is not None:
            raise ConfigError("mixing.shards: not together with transactional=, whose transactions are of one consumer")
        self._interleaved = opened(closing(Interleaved(self._readers))) if len(self._readers) > 1 else None
        self._lines = self.model.lines()
        self._wanted_lines = WantedLines(self.model.labels, config.ask.hide_text)
        plans = None if self._shards is None else self._shards.plans
        self._saver = RunSaver(self.state, self._readers, self._sinks, self._writer, self.stages, self.notice, plans)
        if self.state.has_checkpoint and (self._sinks.new or self.state.number == 0):
            self._saver.save(wait=True)  # so that after a kill before the next one the sinks' lengths are known

    def run(self) -> dict[str, Any]:
        """Run to the source's end, the limit, or until `stop` is set; returns the report. Errors as of `steps`."""
        for _ in self.steps():
            pass
        return self.report()

    def steps(self) -> Generator[tuple[Batch, Predictions], None, None]:
        """Run, and give each batch, once it is learned, with the predictions made before that.

        Closing the iterator ends the run cleanly.

        Raises
        ------
        StreamlinError : the source or a sink failed for good, a limit was exceeded, or no record of a source that
            is not empty became an event. What came before is in the checkpoint, unless a sink failed.
        """
        begin, failure = time.perf_counter(), None
        with short_turns(), self._reading() as read:
            portions: Iterator[Portion | Round | None]
            portions = Upcoming(read) if self._shards else self._within_limits.of(read)
            self._update_watchers()
            while not self.stop.is_set():
                try:
                    requested = self._requests.pending  # before reading: the read then covers all that was handed over
                    portion = next(portions)
                    if isinstance(portion, Round):
                        portion.wait_for_features()
                        self._round_limits.check(portion)
                except StopIteration:
                    break
                except StreamlinError as error:  # nothing of the portion is learned; a sink's error is raised below
                    failure = error
                    break
                if isinstance(portion, Round):
                    learned = self._process_round(portion, portions)
                else:
                    learned = self._process(portion)
                if portion is None and requested:
                    self._requests.save_pending()
                self.seconds = time.perf_counter() - begin
                self._update_watchers()
                try:
                    yield from learned
                except GeneratorExit:
                    self.stop.set()
                    break
            stopped = self.stop.is_set()
        self._saver.finish()
        if isinstance(self.model, ShardedModel):
            self.model.complete()
        self.seconds = time.perf_counter() - begin
        self._update_watchers()
        if failure is not None:
            raise failure
        if not stopped:
            nothing_before = not (self._resumed and self._resumed_events)
            self._read.end(redacted(self.config.source.url or "the source"), nothing_before)

    @contextmanager
    def _reading(self) -> Iterator[Iterator[Any]]:
        """The portions, read ahead if there is a thread for that; stops reading at the end."""
        source = self._interleaved or self._readers[0] if self._shards is None else self._shards.gathering
        portions, ahead = self._requests.watch(iter(source)), None
        if self.config.pipeline.threads > 1:
            depth = max(DEPTH, self.config.pipeline.threads) if self._shards is None else 1
            ahead = ReadAhead(portions, depth, IDLE_SECONDS, self.stop, self._is_small)
            portions = iter(ahead)
        try:
            yield portions
            self.stop.set()
            while ahead is not None and not ahead.join(IDLE_SECONDS):
                self._requests.save_pending()  # nothing more is learned, and the source waits for its checkpoint
        finally:
            self.stop.set()
            self._requests.end()
            if ahead is not None:
                ahead.join()

    def notice(self, line: str) -> None:
        """Show a line on the progress display and to all watchers; called from any thread."""
        for watcher in (self.progress, *self.watchers):
            watcher.notice(spelled(line))

    def report(self, details: bool = True) -> dict[str, Any]:
        """The metrics so far, JSON-able. All counts include those before a resume; the seconds and the rate do not.

        details : False leaves out the long parts.
        """
        report = report_of(self.model.prequential, self.model.labels, details)
        pace = {"seconds": self.seconds, "events_per_second": self.events_per_second}
        counts = {key: report.pop(key) for key in ("events", "labelled", "unlabelled", "dead_letters")}
        unlabelled = counts["events"] and not counts["labelled"]
        hint = {"label_hint": self._readers[-1].decoder.no_label_hint} if unlabelled else {}
        lag = self.lag()
        more = ({} if lag is None else {"lag": lag}) | beside_metrics(self.model)
        if self._hosts is not None:
            more["workers"] = self._hosts.report()
        if self._named_fields.missing:
            more["missing_fields"] = self._named_fields.missing
        return counts | pace | more | hint | report

    def done(self) -> tuple[int, int] | None:
        """How many bytes of the source are learned, and of how many; None if the source can't tell."""
        return self._source_progress.done()

    def lag(self) -> dict[str, int] | None:
        """Events that wait in each part of the source; None if the source can't tell."""
        sources = [reader.source for reader in self._readers if reader.key == self._readers[0].key]
        if getattr(sources[0], "extent", None) is None:
            return None
        extents: dict[str, tuple[int, int]] = {}
        for source in sources:  # of shards, each has parts of its own
            extents |= getattr(source, "extent")()  # noqa: B009
        return lags(extents, self._saver.positions(self._readers[0].key))

    @property
    def writes_to_stdout(self) -> bool:
        """Whether a sink writes to standard output."""
        return self._sinks.to_stdout

    @property
    def events_per_second(self) -> float | None:
        """Events of this run divided by its seconds; None before it began."""
        events = self.model.prequential.events - self._resumed_events
        return events / self.seconds if self.seconds > 0 else None

    def close(self) -> None:
        """Close source, sinks and checkpoint; what no checkpoint holds by now is learned again after a restart."""
        self.stop.set()
        self._open.close()

    def _process(self, portion: Portion | None) -> list[tuple[Batch, Predictions]]:
        """Learn a portion and write its lines; returns what was predicted, nothing if the portion has no events."""
        if portion is None:
            self._writer.run(self._sinks.flush, inline=True)
            self._save_if_due()
            return []
        if portion.count and self._saver.unsaved.has_new_parts:
            self._saver.save(wait=True)
        learned = self._take(portion)
        self._save_if_due()
        return learned

    def _process_round(self, one: Round, portions: Iterator[Any]) -> list[tuple[Batch, Predictions]]:
        """Learn a round of shards and write its lines; only then may it be saved."""
        assert isinstance(self.model, ShardedModel)
        for portion in one.portions:
            if not portion.count:
                self._take(portion)
        if self._saver.unsaved.has_new_parts:
            self._saver.save(wait=True)
        begin = time.perf_counter()
        with self.state.lock:
            self.model.learn_round(one, partial(self._upcoming, one, portions), self._fits)
        self.stages.add("learn", begin)
        learned = [pair for portion in one.portions if portion.count for pair in self._take(portion)]
        self._save_if_due()
        return learned

    def _upcoming(self, one: Round, portions: Iterator[Any]) -> Round | None:
        """The round after this one, if another thread has read it already."""
        if not isinstance(portions, Upcoming) or self.config.pipeline.threads == 1 or self._is_small(one):
            return None
        return portions.peek()

    def _fits(self, one: Round) -> bool:
        """Whether a round is within the limits; if not, that is raised when its turn comes."""
        try:
            self._round_limits.check(one)
        except StreamlinError:
            return False
        return True

    def _take(self, portion: Portion) -> list[tuple[Batch, Predictions]]:
        """Learn a portion, write its lines, and count it."""
        if portion.records.anew:
            self._writer.run(self._sinks.begin_anew, portion.records.key)
        learned = [self._learn(portion)] if len(portion.batch) else []
        if portion.dead:
            self._writer.run(self._sinks.write_dead, portion.dead, portion.records)
        self.model.prequential.count_records(portion.dead, portion.tombstones, portion.lost, portion.mended)
        self._read.add(portion)
        self._named_fields.add(portion.batch)
        self._time_units.observe(portion.batch, portion.source)
        self._saver.add(portion)
        self._source_progress.add(portion)
        return learned

    def _learn(self, portion: Portion) -> tuple[Batch, Predictions]:
        begin, batch = time.perf_counter(), portion.batch
        with self.state.lock:
            given, predictions = self.model.step(batch, portion.features)
        self.stages.add("learn", begin)
        self.batches += 1
        self.batch_size = len(batch)
        hints = (
            self._unsegmented_texts.observe(batch.texts),
            self._tagged_texts.observe(batch),
            self._similar_labels.observe(self.model.labels.names),
        )
        prequential = self.model.prequential
        falls = describe_falls(prequential.new_alarms, prequential.drift.of)
        for line in [*hints, *self.model.pop_notices(), *falls]:
            if line is not None:
                self.notice(line)
        if self._sinks.labels_wanted is not None:
            lines, asked = self._wanted_lines.encode(batch, given, predictions)
            self._writer.run(self._sinks.write_wanted, lines, asked, inline=portion.is_small)
        if self._sinks.predictions is not None:
            self._writer.run(self._write, given, predictions, inline=portion.is_small)
        for watcher in self.watchers:
            watcher.learned(self.model.learned)
        return given, predictions

    def _label_rule(self, source: str) -> str:
        """What a label is in the format of a source, if `fields.label` does not name it."""
        return next((reader.decoder.label_rule for reader in self._readers if reader.key == source), "")

    def _is_small(self, portion: Portion | Round) -> bool:
        if isinstance(portion, Portion):
            return portion.is_small
        return are_few(portion.events, portion.size, self._full_batch)

    def _write(self, batch: Batch, predictions: Predictions) -> None:
        begin = time.perf_counter()
        self._sinks.write(self._lines.encode(batch, predictions), batch)
        self.stages.add("write", begin)

    def _featurize(self, batch: Batch) -> Features | Future[Features]:
        if self._hosts is not None:  # workers find their own
            return Features()
        if self._feature_threads is None or not len(batch):
            return self._find_features(batch)
        n_bytes = batch.records.n_bytes(int(batch.kept[0]), int(batch.kept[-1]) + 1)
        if are_few(len(batch), n_bytes, self._full_batch):
            return self._find_features(batch)
        return self._feature_threads.begin(batch)

    def _find_features(self, batch: Batch) -> Features:
        begin = time.perf_counter()
        features = self.model.featurize(batch)
        self.stages.add("featurize", begin)
        return features

    def _update_watchers(self) -> None:
        self.progress.update(self)
        for watcher in self.watchers:
            watcher.update(self)

    def _save_if_due(self) -> None:
        now = time.monotonic()
        self._saver.save_if_due(now)
        if self._lag_monitor.is_due(now):
            line = self._lag_monitor.observe(now, sum((self.lag() or {}).values()))
            if line is not None:
                self.notice(line)

    def _checkpoint_for_source(self, key: str) -> Mapping[str, Position]:
        """See `streamlin.events.SourceContext.checkpoint`; empty if the run has failed."""
        if not self._requests.request():
            return {}
        for reader in self._readers:
            if reader.key == key:
                reader.pass_on_commits()
        return self._saver.positions(key)
