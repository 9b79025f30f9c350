"""Labels held back in a replay: as if they arrived by id, a fixed number of texts later."""

from dataclasses import replace

import pytest
from numpy.testing import assert_array_equal

from streamlin.evaluation.report import report_of
from streamlin.events import Event
from streamlin.model import Model
from tests.delayed_labels.test_by_id import SLICED, run
from tests.sample_streams import read_events, thinned
from tests.test_model import assert_same_predictions, assert_same_state, config_of, kept, restored


def with_labels_by_id(events, delay):
    """Each text without its label, and the label as an event of its own after `delay` more texts."""
    late = []
    for i, event in enumerate(events):
        late.append(replace(event, label=None))
        if i >= delay and (due := events[i - delay]).label is not None:
            late.append(Event(None, due.label, due.id, extra=due.extra))
    return late


@pytest.mark.parametrize("delay", [1, 3, 50, 700])
def test_a_fixed_delay_equals_labels_by_id(data, delay):
    events = thinned(read_events(data / "trec-6.jsonl.gz", 1000, SLICED))
    measured = {"window": 50, "slice_by": SLICED, "drift": "none"}  # whose alarms would name places in the stream
    delayed = Model(config_of(evaluation=measured, delayed_labels={"delay": delay}))
    late = Model(config_of(evaluation=measured, delayed_labels={"enabled": True}))
    assert_same_predictions(run(delayed, events, 64), run(late, with_labels_by_id(events, delay), 50))
    mine, other = delayed.state()[0], late.state()[0]
    for name, array in other.items():
        if not name.startswith("delayed_labels/"):
            assert_array_equal(mine[name], array, err_msg=name, strict=True)
    assert report_of(delayed.prequential, delayed.labels) == report_of(late.prequential, late.labels)
    assert delayed.delayed_labels.report()["joined"] == late.delayed_labels.report()["joined"] > 0
    assert delayed.delayed_labels.report()["waiting"] == sum(event.label is not None for event in events[-delay:])


def test_batches_and_restarts_change_nothing(data):
    events = thinned(read_events(data / "sms-spam.jsonl.gz", 1000))
    config = config_of(delayed_labels={"delay": 130})
    whole, cut = Model(config), Model(config)
    predictions = run(whole, events, 1000)
    assert_same_predictions(run(Model(config), events, 7), predictions)
    run(cut, events, 100, slice(444))
    resumed = restored(config, kept(cut))
    run(resumed, events, 100, slice(444, None))
    assert_same_state(kept(resumed), kept(whole))
    assert resumed.delayed_labels.report() == whole.delayed_labels.report()
    assert whole.delayed_labels.report()["joined"] > 700
