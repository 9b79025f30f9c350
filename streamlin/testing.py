"""Checks of the contracts of sources, sinks, formats, learners and taggers, for tests of your own.

Each check raises AssertionError with the part of the contract that is broken.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from streamlin.config import RunConfig
from streamlin.errors import RecordError
from streamlin.events import MAX_WEIGHT, Batch, Event, Position, Records, Sink, Source, single_records
from streamlin.formats.base import Format, comparable
from streamlin.learners import Learner, best
from streamlin.storage.arrays import arrays_under

if TYPE_CHECKING:
    from streamlin.tagging.base import Tagger
    from streamlin.tagging.model import TaggingModel

_Sentence = tuple[list[str], list[str | None], float]


def check_source(make: Callable[[Mapping[str, Position]], Source], expected: Sequence[bytes]) -> None:
    """Check a source that ends and has a single part.

    Parameters
    ----------
    make : positions -> a new source that resumes there; {} is a fresh start.
    expected : the records it must return.
    """
    for limit in (1, 7, 1000):
        found = [record for records in _polled(make({}), limit) for record in _records(records)]
        _same(found, list(expected), f"its records when polled by {limit}")
    for count in sorted({1, len(expected) // 2, len(expected)} - {0}):
        positions = _positions_after(make({}), count)
        _same(json.loads(json.dumps(positions)), positions, "a position must be JSON")
        rest = [record for records in _polled(make(positions), 7) for record in _records(records)]
        _same(rest, list(expected[count:]), f"the records after a resume behind record {count}")
    source = make({})
    source.close()
    source.close()


def check_sink(make: Callable[[int | None], Sink], read: Callable[[], bytes]) -> None:
    """Check a sink whose content can be read back.

    Parameters
    ----------
    make : length -> the sink, truncated to that length; None is a fresh start.
    read : returns the content of the sink.
    """
    sink = make(None)
    sink.write(b"one\n")
    sink.write(memoryview(b"two\n"))
    sink.flush()
    _same(read(), b"one\ntwo\n", "written bytes must be readable after flush()")
    length = sink.sync()
    assert length is not None, "a sink that can be read back must return its length from sync()"
    sink.write(b"lost\n")
    sink.flush()
    sink.close()
    sink.close()
    sink = make(length)
    sink.write(b"three\n")
    sink.sync()
    sink.close()
    _same(read(), b"one\ntwo\nthree\n", "a sink opened with a length must truncate everything behind it")


def check_format(
    make: Callable[[], Format],
    good: Sequence[bytes],
    bad: Sequence[bytes] = (),
    header: bytes | None = None,
    separator: bytes = b"\n",
) -> None:
    """Check a format: each record is an event or a dead letter, whatever its neighbours; it reads what it writes.

    Parameters
    ----------
    make : returns a new decoder, always the same.
    good : records that are events. bad : records that are not; one that is not UTF-8 is added.
    header : the line before the records, if the format's `framing.header` is true.
    separator : what ends a record in a stream of bytes.
    """
    format_ = make()
    assert format_.framing.header == (header is not None), (
        f"framing.header is {format_.framing.header}, header {header!r}"
    )
    batch, dead = format_.decode(_with_header(good, header))
    assert not dead, f"{good[dead[0].record]!r:.80} must be an event, got {dead[0].error}" if dead else ""
    check_batch(batch)
    events = batch.events()
    _same(len(events), len(good), "the number of events of the good records")
    _check_neighbours(format_, events, good, [*bad, b"\xff\xfe"], header)
    lines = [*([] if header is None else [header]), *good]
    _check_framing(format_, separator.join(lines) + separator, lines)
    _check_framing(format_, separator.join(lines), lines)
    written = list(_written(format_, events))
    has_header = format_.framing.header
    own_header = format_.encode_header() if has_header else None  # type: ignore[attr-defined]  # a header needs it
    read, dead = make().decode(_with_header([record for record, _ in written], own_header))
    assert not dead, (
        f"it must read what it wrote, {written[dead[0].record][0]!r:.80}, got {dead[0].error}" if dead else ""
    )
    _same([comparable(event) for event in read.events()], [event for _, event in written], "its own records, read back")


def check_batch(batch: Batch) -> None:
    """Check a batch: equal lengths of columns, no empty labels or ids, valid weights."""
    n = len(batch.ids)
    columns: dict[str, Sized] = {name: getattr(batch, name) for name in ("labels", "weights", "times", "kept")}
    for name, column in (columns | batch.extra).items():
        _same(len(column), n, f"the length of {name}")
    for name, column in (("labels", batch.labels), ("ids", batch.ids)):
        assert "" not in column, f"{name}: a missing one must be None, not empty"
    for name, numbers in (("weights", batch.weights), ("times", batch.times)):
        _same(numbers.dtype, np.dtype(np.float64), f"the type of {name}")
    assert ((batch.weights >= 0) & (batch.weights <= MAX_WEIGHT)).all(), "weights must be from 0 to 1e9"
    if batch.pieces is None:
        _same(len(batch.texts), n, "the number of texts")
    else:
        fewest = 1 if batch.tokens is None else 0  # a sentence may be empty
        assert (np.diff(batch.pieces) >= fewest).all(), "pieces: each event needs at least one text"
        _same([int(batch.pieces[0]), int(batch.pieces[-1])], [0, len(batch.texts)], "the ends of pieces")
    if batch.values is not None:
        _same(batch.values.dtype, np.dtype(np.float32), "the type of values")
        _same(batch.values.size, len(batch.texts) if batch.pieces is not None else -1, "the number of values")
    if batch.tokens is not None:
        of_tokens: dict[str, Sized] = {"tags": batch.tokens.tags, **batch.tokens.columns}
        for name, column in of_tokens.items():
            _same(len(column), len(batch.texts), f"the length of {name}")
        assert "" not in batch.tokens.tags, "tags: a missing one must be None, not empty"


def check_learner(make: Callable[[], Learner]) -> None:
    """Check a learner: test-then-train, no peeking, batch sizes, single events, growth, weights, state.

    Parameters
    ----------
    make : returns a new learner, always with the same parameters.
    """
    texts, labels = _stream()
    whole = make()
    predicted = whole.learn_many(texts, labels)
    assert predicted[0] is None, "it must abstain while no label is known"
    for size in (1, 7):
        parts = make()
        found = [
            p for i in range(0, len(texts), size) for p in parts.learn_many(texts[i : i + size], labels[i : i + size])
        ]
        _same(found, predicted, f"predictions in batches of {size}")
        _same_arrays(_state(parts), _state(whole), f"its state after batches of {size}")
    assert len(set(predicted[len(predicted) // 2 :])) > 1, "it must learn to predict more than one label"
    for i in range(0, len(texts), 5):
        hidden = [*labels[:i], None, *labels[i + 1 :]]
        _same(
            make().learn_many(texts[: i + 1], hidden[: i + 1])[i],
            predicted[i],
            f"the prediction of event {i} with its label hidden",
        )
    single, found = make(), []
    for text, label in zip(texts, labels, strict=True):
        found.append(single.predict_one(text))
        single.learn_one(text, label or "")
    _same(found, predicted, "predictions one by one")
    _same_arrays(_state(single), _state(whole), "its state after events one by one")
    before = _state(whole)
    scores = whole.scores_many(texts[:20])
    whole.learn_many(texts[:20], [None] * 20, [float(not whole.learns_unlabelled)] * 20)
    whole.learn_many(texts[:20], labels[:20], [0.0] * 20)
    _same_arrays(_state(whole), before, "its state after events without a label or with weight 0")
    _same([whole.labels.names[code] for code in best(scores)], whole.predict_many(texts[:20]), "predict_many by scores")
    shares = whole.predict_proba_one(texts[0])
    assert abs(sum(shares.values()) - 1) < 1e-9, f"probabilities must sum to 1, got {sum(shares.values())}"


def check_tagger(make: "Callable[[], Tagger]") -> None:
    """Check a tagger: test-then-train, no peeking, batch sizes, weights, unknown tags, growth, state, explanations.

    Parameters
    ----------
    make : returns a new tagger, always with the same parameters.
    """
    stream = _sentences()
    whole = _tagging_model(make)
    predicted = _tagged(whole, stream)
    assert set(predicted[0]) == {None}, "it must abstain while no tag is known"
    for size in (1, 7):
        parts = _tagging_model(make)
        found = [tags for i in range(0, len(stream), size) for tags in _tagged(parts, stream[i : i + size])]
        _same(found, predicted, f"predictions in batches of {size}")
        _same_arrays(parts.state()[0], whole.state()[0], f"its state after batches of {size}")
    last = {tag for tags in predicted[len(stream) // 2 :] for tag in tags}
    assert len(last) > 1, "it must learn to predict more than one tag"
    for i in range(0, len(stream), 5):
        tokens, tags, weight = stream[i]
        hidden: list[_Sentence] = [*stream[:i], (tokens, [None] * len(tags), weight)]
        _same(_tagged(_tagging_model(make), hidden)[i], predicted[i], f"the tags of sentence {i} with its tags hidden")
    arrays, rest = whole.state()
    again = _tagging_model(make)
    again.restore({name: array.copy() for name, array in arrays.items()}, json.loads(json.dumps(rest)))
    _same_arrays(again.state()[0], arrays, "its state, restored")
    _same(_tagged(again, stream), _tagged(whole, stream), "predictions after its state was restored")
    before = {name: array.copy() for name, array in _tables(whole).items()}
    _tagged(whole, [(tokens, [None] * len(tags), weight) for tokens, tags, weight in stream])
    _tagged(whole, [(tokens, tags, 0.0) for tokens, tags, _ in stream])
    _same_arrays(_tables(whole), before, "its state after sentences without tags or with weight 0")
    _check_parts(whole, [sentence for sentence in stream if sentence[0]][-5:])


def _check_parts(model: "TaggingModel", stream: Sequence[_Sentence]) -> None:
    """The parts of its scores are finite, of each token and tag, and it considers the tags that it predicts."""
    from streamlin.tagging.alone import batch_of  # only taggers need it

    n_tags = len(model.labels)
    for tokens, tags, _ in stream:
        batch, n = batch_of([tokens], [[None] * len(tags)], {}, np.ones(1)), len(tokens)
        features = model.featurize(batch)
        predicted = model.predict(batch, features)[1].tags[0]
        parts = model.learners["tagger"].parts(model.features.sentences(features), predicted, n_tags)
        beside = [*parts.before.values(), *parts.after.values()]
        _same([array.shape for array in beside], [(n, n_tags)] * len(beside), "the shapes of parts beside a token")
        for array in (parts.features, parts.contexts):
            _same(array.shape[::2], (n, n_tags), "the tokens and tags of the parts of features")
        assert all(np.isfinite(array).all() for array in (parts.features, parts.contexts, *beside)), "finite parts"
        _same(parts.considered[np.arange(n), predicted].tolist(), [True] * n, "that predicted tags are considered")


def _sentences(n: int = 80) -> list[_Sentence]:
    """Tokens that tell their tags, with a tag that appears late, empty sentences, hidden tags and weights."""
    random = np.random.default_rng(1)
    stream: list[_Sentence] = []
    for i in range(n):
        tags = random.integers(3 if i > n // 3 else 2, size=i % 6).tolist()
        tokens = [f"{'abc'[tag]}{random.integers(5)}" for tag in tags]
        known: list[str | None] = [f"tag{tag}" if (i + t) % 11 or i == 1 else None for t, tag in enumerate(tags)]
        stream.append((tokens, known, 2.0 if i % 7 == 3 else 1.0))
    return stream[1:]


def _tagging_model(make: "Callable[[], Tagger]") -> "TaggingModel":
    """A model with this tagger alone."""
    from streamlin.tagging.model import TaggingModel  # only taggers need it

    model = TaggingModel(RunConfig.model_validate({"task": "tagging", "learners": [{"kind": "hmm", "name": "tagger"}]}))
    model.learners["tagger"] = make()
    return model


def _tagged(model: "TaggingModel", stream: Sequence[_Sentence]) -> list[list[str | None]]:
    """The tags predicted for sentences, before each of them is learned."""
    from streamlin.tagging.alone import batch_of  # only taggers need it

    tokens, tags, weights = zip(*stream, strict=True) if stream else ((), (), ())
    batch = batch_of(tokens, tags, {}, np.array(weights, np.float64))
    return model.given_out(batch, model.step(batch, model.featurize(batch))[1])


def _tables(model: "TaggingModel") -> dict[str, NDArray[Any]]:
    """The tagger's own arrays."""
    return arrays_under(model.state()[0], "learners/tagger/")


def _stream(n: int = 200) -> tuple[list[str], list[str | None]]:
    """Texts whose words depend on the label, with a label that appears late, empty texts and hidden labels."""
    random = np.random.default_rng(1)
    texts, labels = [], []
    for i in range(n):
        label = int(random.integers(3 if i > n // 3 else 2))
        words = [f"w{label}{random.integers(5)}" for _ in range(random.integers(4))]
        texts.append(" ".join([*words, f"n{random.integers(50)}"] if i % 17 else ""))
        labels.append(f"label{label}" if i % 11 else None)
    labels[0] = "label0"
    return texts, labels


def _polled(source: Source, limit: int) -> Iterator[Records]:
    while (polled := source.poll(limit)) is not None:
        assert sum(map(len, polled)) <= limit, f"poll({limit}) must return at most {limit} records"
        yield from polled
    assert source.poll(limit) is None, "poll() must keep returning None after the end"
    source.close()


def _with_header(payloads: Sequence[bytes], header: bytes | None) -> Records:
    records = single_records(payloads)
    records.header = header
    return records


def _check_neighbours(
    format_: Format, events: Sequence[Event], good: Sequence[bytes], bad: Sequence[bytes], header: bytes | None
) -> None:
    """Each record gives one event or dead letter, in order, the same as by itself; errors of the source are kept."""
    for record in bad:
        batch, dead = format_.decode(_with_header([record], header))
        assert not len(batch), f"{record!r:.80} must be a dead letter, became {batch.events()[0]}"
        _same([letter.record for letter in dead], [0], f"the dead letters of {record!r:.80} alone")
        _same(len(dead[0].error.splitlines()), 1, f"the lines of the error {dead[0].error!r}")
    for record, event in zip(good, events, strict=True):
        _same(
            format_.decode(_with_header([record], header))[0].events(), [event], f"the events of {record!r:.80} alone"
        )
    mixed = [record for pair in zip(good, [*bad, *good], strict=False) for record in pair]
    is_good = [kind for _ in good for kind in (True, False)]
    records = _with_header(mixed, header)
    records.errors = {i: "an error of the source" for i, kind in enumerate(is_good) if not kind and mixed[i] not in bad}
    batch, dead = format_.decode(records)
    _same(
        batch.kept.tolist(), [i for i, kind in enumerate(is_good) if kind], "the events of good and bad records mixed"
    )
    _same([letter.record for letter in dead], [i for i, kind in enumerate(is_good) if not kind], "their dead letters")
    _same(batch.events(), list(events), "good records among bad ones")
    _same({i: e for i, e in dead if i in records.errors}, records.errors, "the errors of the source")
    _same(len(format_.decode(_with_header([], header))[0]), 0, "the events of no records")


def _check_framing(format_: Format, data: bytes, expected: Sequence[bytes]) -> None:
    """Framing finds the same records wherever the stream is cut."""
    for cut in sorted({*range(0, len(data), 1 + len(data) // 500), len(data)}):
        first, consumed = _framed(format_, data[:cut], False)
        rest, left = _framed(format_, data[consumed:], True)
        _same([*first, *rest], list(expected), f"the records of a stream cut at byte {cut} of {len(data)}")
        _same(left, len(data) - consumed, "the bytes consumed with `final`")


def _framed(format_: Format, data: bytes, final: bool) -> tuple[list[bytes], int]:
    starts, ends, consumed = format_.framing(data, final)
    return [data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)], consumed


def _written(format_: Format, events: Sequence[Event]) -> Iterator[tuple[bytes, Event]]:
    """The events that the format can write, each with its record."""
    for event in events:
        try:
            yield format_.encode(event), comparable(event)
        except RecordError:
            continue


def _records(records: Records) -> list[bytes]:
    return [records[i] for i in range(len(records))]


def _positions_after(source: Source, count: int) -> dict[str, Position]:
    positions: dict[str, Position] = {}
    for records in _polled(source, 3):
        taken = min(count, len(records))
        if taken:
            positions[records.key] = records.position(taken)
        count -= taken
    return positions


def _state(learner: Learner) -> dict[str, NDArray[Any]]:
    return {name: array.copy() for name, array in learner.state(learner.n_rows, len(learner.labels)).items()}


def _same_arrays(found: Mapping[str, NDArray[Any]], expected: Mapping[str, NDArray[Any]], what: str) -> None:
    for name, array in expected.items():
        assert np.array_equal(found[name], array), f"{what}: table {name} differs"


def _same(found: Any, expected: Any, what: str) -> None:
    assert found == expected, f"{what}: found {_short(found)}, expected {_short(expected)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"
