"""`python -m tests.running.warmed CASE` prints the kernels that `warm_up` loads, those that events load later, and
those that the second compiler loads and no run does."""

import json
import sys
from typing import Any

from streamlin.checkpoint.models import new_model
from streamlin.config.loading import load_config
from streamlin.evaluation.report import report_of
from streamlin.events import single_records
from streamlin.running.compiling import compile_from_the_end
from streamlin.running.warming import warm_up
from streamlin.streams.json_lines import json_lines

EVENTS = {
    "classification": [b'{"text": "a b c", "label": "x"}', b'{"text": "b", "label": "y"}', b'{"text": "c"}'],
    "asking": [b'{"id": "1", "text": "a b"}', b'{"id": "1", "label": "x"}', b'{"id": "2", "text": "c"}'],
    "tagging": [b'{"tokens": ["a", "b"], "tags": ["B-X", "O"]}', b'{"text": "a b.", "tags": ["N", null, "O"]}'],
}


def loaded() -> set[str]:
    """Every kernel with the types that it is compiled for."""
    found = set[str]()
    for name, module in list(sys.modules.items()):
        if name.startswith("streamlin."):
            kernels = (one for one in vars(module).values() if not isinstance(one, type))
            for kernel in kernels:
                signatures: list[Any] = getattr(kernel, "signatures", [])
                found |= {f"{kernel.__module__}.{kernel.__name__} {signature}" for signature in signatures}
    return found


FLAGS: dict[str, dict[str, Any]] = {
    "classification": {},
    "accurate": {"preset": "accurate"},
    "asking": {"delayed_labels.enabled": True, "ask.budget": 0.5},
    "tagging": {"task": "tagging"},
}


def main(case: str) -> None:
    config = load_config(flags=FLAGS[case], environment={})
    warm_up(config)
    warm = loaded()
    model, lines = new_model(config), json_lines(config)
    for _ in range(3):
        batch, _dead = lines.decode(single_records(EVENTS.get(case, EVENTS["classification"])))
        model.predict(batch, model.featurize(batch))
        model.step(batch, model.featurize(batch))
    events = loaded()
    report_of(model.prequential, model.labels)
    run = loaded()
    compile_from_the_end(config)
    print(json.dumps([sorted(warm), sorted(events - warm), sorted(loaded() - run)]))


if __name__ == "__main__":
    main(sys.argv[1])
