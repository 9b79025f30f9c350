"""What processes print of labels, names, exceptions and addresses: nothing that steers a terminal, and no secret."""

import json
from pathlib import Path

from tests.integration.processes import finish
from tests.integration.streams import write_lines
from tests.integration.test_what_is_printed import HOSTILE, NAME, STEERING, harmless
from tests.service.served import served
from tests.soak.measuring import command, measured, three_times

LEARNER = ("--learner", "perceptron")
SECRET = "s3cret"
GUEST = """
class Guest:
    def learn_one(self, x, y):
        raise ValueError(f"I can't learn {x}")

    def predict_one(self, x):
        return None
"""
WITH_GUEST = "learners=[{{kind = 'perceptron'}}, {{kind = 'river', object = 'guest:Guest', input = 'text', {}}}]"


@three_times
def test_escape_sequences_in_labels_of_a_service(tmp_path: Path, number: int) -> None:
    """Neither the service nor the commands that read its folder print any."""
    state = tmp_path / NAME
    labels = [f"{HOSTILE}0", f"{HOSTILE}1", f"{HOSTILE}0\u200b"]  # the last differs by an invisible character only
    with served(state, *LEARNER) as service:
        with measured("300 labels that steer a terminal", service.process, 60):
            assert {service.post("/learn", {"text": HOSTILE, "label": labels[i % 3]}).status for i in range(300)} == {
                202
            }
            service.learned(300)
        service.process.terminate()
        done = finish(service.process, news=False)
    assert STEERING.findall(service.told + done.out + done.err) == []
    assert done.code == 0
    assert "�" in harmless(command("inspect", "inspect", state)).out
    harmless(command("explain", "explain", state, HOSTILE.replace("\0", "")))
    (found,) = harmless(command("inspect --json", "inspect", state, "--json")).lines
    assert sorted(found["labels"]) == sorted(labels)


@three_times
def test_escape_sequences_in_labels_and_names_of_a_run(tmp_path: Path, number: int) -> None:
    events = [{"text": HOSTILE, "label": f"{HOSTILE}{i % 2}", "id": HOSTILE} for i in range(300)]
    events.append({"text": "a", "label": f"{HOSTILE}0\u200b"})
    stream = write_lines(tmp_path / NAME, [*events, HOSTILE.replace("\n", "").encode()])
    done = harmless(command("a run with labels that steer a terminal", "run", stream, *LEARNER))
    assert "�" in done.err
    assert "dead letter at " in done.err
    limit = ("--set", "pipeline.max_labels=1")
    for how in ((), ("--log-format", "json")):
        done = harmless(command("a label too many", "run", stream, *LEARNER, *limit, *how, code=2))
        assert "pipeline.max_labels: found more than 1 label" in done.err
    harmless(command("a file that is absent", "run", f"{stream}.gone", *LEARNER, code=3))


@three_times
def test_exceptions_of_an_external_model_with_texts(tmp_path: Path, number: int) -> None:
    """The log has their type only, unless asked."""
    (tmp_path / "guest.py").write_text(GUEST)
    for shown in (False, True):
        setting = WITH_GUEST.format(f"pickle = true, show_errors = {str(shown).lower()}")
        how = ("--log-format", "json", "--set", setting)
        with served(tmp_path / f"state {shown}", *how, cwd=tmp_path, fresh=True) as service:
            with measured("an external model that fails", service.process, 60):
                assert service.post("/learn", {"text": f"{SECRET} text", "label": "a"}).status == 202
                service.learned(1)
            done = service.ended()
        assert all(json.loads(line) for line in done.err.splitlines())
        assert "ValueError" in done.err
        assert (SECRET in service.told + done.out + done.err) == shown


@three_times
def test_secrets_in_addresses(tmp_path: Path, number: int) -> None:
    stream = write_lines(tmp_path / "in.jsonl", [{"text": "a", "label": "b"}])
    for url in (
        f"file://user:{SECRET}@host/x",
        f"file://user%3A{SECRET}%40host/x",
        f"file:///x?password={SECRET}&header",
    ):
        for arguments in ((url,), (stream, "--predictions", url, "--log-format", "json")):
            done = command("a secret in an address", "run", *arguments, code=2)
            assert SECRET not in done.out + done.err
            assert "\n" not in done.err
