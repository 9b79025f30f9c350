"""What Prometheus, and who looks after a run's health, are told."""

import http.client
import json
import os
import socket
import subprocess
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from streamlin.monitoring.prometheus.families import collision_share
from tests.command_line import refused
from tests.integration.conftest import Reference
from tests.integration.pages import asked, started
from tests.integration.processes import PATIENCE, finish, refused_by_process, start, until
from tests.integration.streams import measured
from tests.integration.test_dashboard import hostile_stream
from tests.required import program

Samples = dict[tuple[str, ...], float]
SPANS = {"running": "", "window": "window_", "fading": "fading_"}
"""What stands before the name of a figure in the report."""


def scraped(url: str) -> Samples:
    """Name and labels' values (by their names' order) -> value."""
    status, body = asked(url, "metrics")
    assert status == 200
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(body)
        for sample in family.samples
    }


def test_exported_values_are_those_of_the_report(reference: Reference, tmp_path: Path) -> None:
    """Followed to where the file ends, scraped, and ended: nothing has changed by being looked at."""
    report = tmp_path / "report.json"
    process, url = started(
        *("run", reference.stream, "--follow", "--report", report, "--dead-letters", "null://"),
        *("--checkpoint", tmp_path / "state", "--set", "checkpoint.every_seconds=0.2"),
        *("--set", "pipeline.batch_size=1000"),
        option="--metrics",
    )
    until(lambda: scraped(url).get(("streamlin_events_total",)) == reference.events, process)
    until(lambda: scraped(url).get(("streamlin_checkpoint_age_seconds",)) is not None, process)
    told = scraped(url)
    process.terminate()
    assert finish(process).code == 0
    assert measured(report) == measured(reference.report)
    whole = json.loads(report.read_text())
    for key in ("events", "labelled", "dead_letters", "tombstones", "lost"):
        assert told[(f"streamlin_{key}_total",)] == whole[key]
    for kind, count in whole["dead_letters_by_kind"].items():
        assert told[("streamlin_dead_letters_by_kind_total", kind)] == count > 0
    for group in ("learner", "baseline"):
        for name, row in whole[f"{group}s"].items():
            for span, before in SPANS.items():
                assert told[(f"streamlin_{group}_accuracy_ratio", name, span)] == row[f"{before}accuracy"]
            assert told[(f"streamlin_{group}_abstentions_total", name)] == row["abstained"]
    for name, row in whole["learners"].items():
        for span, before in SPANS.items():
            for key in ("kappa", "macro_f1", "log_loss"):
                assert told[(f"streamlin_learner_{key}", name, span)] == row[before + key]
            assert told[("streamlin_learner_ece_ratio", name, span)] == row[f"{before}ece"]
    assert told[("streamlin_labels",)] == 2
    rows = told[("streamlin_feature_rows", "words")]
    assert told[("streamlin_feature_buckets_used_ratio", "words")] == rows / 2**20
    assert told[("streamlin_feature_collisions_ratio", "words")] == pytest.approx(rows / 2**21, rel=0.05)
    for stage in ("read", "decode", "featurize", "learn", "checkpoint"):
        assert told[("streamlin_stage_seconds_total", stage)] > 0
    assert told[("streamlin_batches_total",)] > 1
    assert 0 < told[("streamlin_batch_events",)] <= 1000
    assert time.time() - PATIENCE < told[("streamlin_checkpoint_timestamp_seconds",)] <= time.time()
    assert told[("streamlin_ready",)] == told[("streamlin_healthy",)] == 1
    assert told[("process_resident_memory_bytes",)] > 1e6


def test_metric_names_pass_promtool(reference: Reference) -> None:
    """promtool has nothing to say."""
    promtool = program("promtool")
    process, url = started("run", reference.stream, "--follow", "--dead-letters", "null://", option="--metrics")
    until(lambda: scraped(url).get(("streamlin_events_total",)) == reference.events, process)
    own = "".join(
        line + "\n" for line in asked(url, "metrics")[1].splitlines() if "streamlin_" in line
    )  # those of Python itself are prometheus-client's
    done = subprocess.run([promtool, "check", "metrics"], input=own.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    process.terminate()
    assert finish(process).code == 0


def test_odd_names_do_not_break_the_exposition(tmp_path: Path) -> None:
    """A learner's name is a user's own; labels of events are in no metric."""
    config = tmp_path / "odd.toml"
    config.write_text('[[learners]]\nkind = "perceptron"\nname = "a\\"b\\\\c\\nd"\n')
    stream = hostile_stream(tmp_path / "in.jsonl")
    process, url = started("run", stream, "--follow", "--config", config, option="--metrics")
    until(lambda: scraped(url).get(("streamlin_events_total",)) == 7, process)
    assert ("streamlin_learner_accuracy_ratio", 'a"b\\c\nd', "running") in scraped(url)
    assert not [text for text in ("<script", "onerror", "xxx") if text in asked(url, "metrics")[1]]
    process.terminate()
    assert finish(process).code == 0


def test_probes_and_refused_requests(reference: Reference) -> None:
    process, url = started("run", reference.stream, "--follow", "--dead-letters", "null://", option="--metrics")
    until(lambda: asked(url, "readyz")[0] == 200, process)
    assert asked(url, "healthz") == (200, "ok\n")
    assert asked(url, "readyz") == (200, "ready\n")
    for path in ("", "metric", "metrics/", "../metrics"):
        assert asked(url, path)[0] == 404
    parts = urlsplit(url)
    for method, path, host, status in (
        ("POST", "/healthz", None, 405),
        ("DELETE", "/metrics", None, 405),
        ("HEAD", "/healthz", None, 200),
        ("GET", "/metrics", "evil.example", 400),
        ("GET", "/healthz", "evil.example", 200),
    ):
        with closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, headers={} if host is None else {"Host": host})
            with connection.getresponse() as answer:
                assert answer.status == status
                body = answer.read()
                assert (body == b"") == (method == "HEAD")
    with socket.create_connection((parts.hostname or "", parts.port or 0), PATIENCE) as noise:
        noise.sendall(b"\x16\x03\x01\xff" * 100 + b"\r\n\r\n")
        assert noise.recv(1000).startswith(b"HTTP/1.1 400")
    process.terminate()
    done = finish(process)
    assert done.code == 0
    assert "HTTP" not in done.err


def test_not_ready_while_the_checkpoint_is_loaded(reference: Reference, tmp_path: Path) -> None:
    """A named pipe in the place of the checkpoint: it is read until somebody writes. Nothing is ready meanwhile."""
    state = tmp_path / "state"
    state.mkdir()
    os.mkfifo(state / "checkpoint.safetensors")
    process, url = started("run", reference.stream, "--checkpoint", state, option="--metrics")
    assert asked(url, "readyz") == (503, "the run has not started reading yet\n")
    assert asked(url, "healthz")[0] == 200
    assert scraped(url)[("streamlin_ready",)] == 0
    with open(state / "checkpoint.safetensors", "wb") as pipe:
        pipe.write(b"\0" * 8)
    assert finish(process).code == 4


def test_page_and_metrics_together_and_port_in_use_refused(sms: Path) -> None:
    process, url = started("run", sms, "--follow", "--metrics", 0)
    assert asked(url)[0] == 200
    port = urlsplit(url).port
    assert refused("run", sms, "--metrics", port) == f"--metrics {port}: port {port} is in use; give another one"
    process.terminate()
    assert finish(process).code == 0
    assert "needs [HOST:]PORT" in refused("run", sms, "--metrics", "9x")


@pytest.mark.parametrize("package", ["prometheus_client", "starlette", "uvicorn"])
def test_missing_package_is_named(sms: Path, tmp_path: Path, package: str) -> None:
    missing = f"raise ModuleNotFoundError('No module named {package}', name='{package}')"
    (tmp_path / f"{package}.py").write_text(missing)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert refused_by_process("run", sms, "--metrics", 0, env={"PYTHONPATH": path}) == (
        f"--metrics needs {package}, which is not installed: pip install 'streamlin[metrics]'"
    )


def test_port_is_free_after_the_run(sms: Path) -> None:
    process, url = started("run", f"{sms}?rate=2000", option="--metrics")
    assert finish(process).code == 0
    with pytest.raises(ConnectionRefusedError):
        asked(url, "healthz")
    again = start("run", sms, "--metrics", urlsplit(url).port)
    assert finish(again).code == 0


def test_collision_estimate_by_hand() -> None:
    """3 of 4 buckets taken: 4 (1 - (3/4)^n) = 3, so n = ln 4 / ln (4/3) = 4.8188 features, so 1 - 3/n collided."""
    assert collision_share(3, 4) == pytest.approx(1 - 3 / 4.8188, abs=1e-4)
    assert collision_share(0, 1024) == 0
    assert collision_share(1, 1024) == 0
    assert collision_share(1024, 1024) == 1
    simulated = 4096 * (1 - (1 - 1 / 4096) ** 3000)
    assert collision_share(round(simulated), 4096) == pytest.approx(1 - simulated / 3000, abs=1e-3)
