"""Files of somebody else: forged checkpoints, planted links, folders linked into themselves; and rights of our own."""

import json
import os
import stat
from pathlib import Path

import numpy as np

from streamlin.checkpoint.file import CURRENT, load
from tests.checkpoint.test_forged import forged, with_header
from tests.integration.streams import events_kept, json_lines, write_lines
from tests.service.served import served
from tests.soak.measuring import command, measured, three_times

LEARNER = ("--learner", "perceptron")
EVENTS = [{"text": f"w{i % 7} w{i}", "label": f"l{i % 4}"} for i in range(120)]
LARGE = max(30 << 30, 2 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
"""Bytes of an array that no memory holds; they take no place on the disk."""


@three_times
def test_forged_checkpoints_of_a_service(tmp_path: Path, number: int) -> None:
    """Right checksums, but labels of 10^9, missing, transposed or enormous arrays: one line and exit 4."""
    stream, state = write_lines(tmp_path / "in.jsonl", EVENTS), tmp_path / "state"
    command("the run that wrote the checkpoint", "run", stream, *LEARNER, "--checkpoint", state)
    arrays, about = load(state)
    labels, weights = "evaluation/accuracy/window_labels", "learners/perceptron/weights"
    turned, beyond = np.ascontiguousarray(arrays[weights].T), np.full_like(arrays[labels], 10**9)
    assert turned.shape != arrays[weights].shape
    forgeries = {
        "labels of 10^9": arrays | {labels: beyond},
        "a missing array": {name: array for name, array in arrays.items() if name != weights},
        "a transposed array": arrays | {weights: turned},
    }
    for what, changed in forgeries.items():
        refused(what, forged(tmp_path / what, changed, about))
    (tmp_path / "large").mkdir()
    table = {weights: {"dtype": "U8", "shape": [LARGE], "data_offsets": [0, LARGE]}}
    with_header(tmp_path / "large" / CURRENT, table, json.dumps(about), LARGE)
    refused("an array of 30 GiB", tmp_path / "large")


def refused(what: str, folder: Path) -> None:
    done = command(what, "serve", folder, 0, code=4)
    assert done.out == ""
    assert done.err.startswith("streamlin: ")
    assert "\n" not in done.err


@three_times
def test_planted_links_and_the_rights_of_a_service_s_files(tmp_path: Path, number: int) -> None:
    """The target of a link is untouched; files are 0600 and folders 0700 without a mask too."""
    state, precious = tmp_path / "state", tmp_path / "precious"
    precious.write_text("precious")
    for learned in (100, 200):
        running = served(state, *LEARNER, "--set", "checkpoint.every_events=10", before="os.umask(0)")
        with running as service, measured("a planted link", service.process, 60):
            assert {service.post("/learn", event).status for event in EVENTS[:100]} == {202}
            service.learned(learned)
        assert precious.read_text() == "precious"
        assert {stat.S_IMODE(path.lstat().st_mode) for path in state.iterdir()} == {0o600}
        assert stat.S_IMODE(state.stat().st_mode) == 0o700
        assert events_kept(state) == learned
        (state / "checkpoint.new").symlink_to(precious)


@three_times
def test_a_folder_linked_into_itself(tmp_path: Path, number: int) -> None:
    """Each file below `**` is read once, whatever the links are."""
    (tmp_path / "in" / "a").mkdir(parents=True)
    write_lines(tmp_path / "in" / "one.jsonl", EVENTS[:1])
    write_lines(tmp_path / "in" / "a" / "two.jsonl", EVENTS[1:2])
    for link in ("loop", "again", "a/up", "a/root"):
        (tmp_path / "in" / link).symlink_to(tmp_path / "in", target_is_directory=True)
    out = tmp_path / "out.jsonl"
    done = command("links to itself", "run", f"{tmp_path}/in/**/*.jsonl", *LEARNER, "--predictions", out)
    assert done.out.startswith("2 events ")
    assert len(json_lines(out)) == 2
