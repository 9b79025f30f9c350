"""The container: what its files say fits together, and streamlin ends well as process 1 of a read-only system."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from streamlin.checkpoint.file import load
from streamlin.cli import app
from streamlin.config.loading import checked
from tests.integration.processes import PATIENCE, until
from tests.locations import ROOT

DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")
USER = 10001


def instructions() -> list[tuple[str, str]]:
    """Each instruction of the Dockerfile and its arguments; lines that are continued are one."""
    text = re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in text.splitlines() if line.strip()]


def stage() -> dict[str, str]:
    """The last stage's instructions; of those that come twice the last."""
    every = instructions()
    last = max(i for i, (name, _) in enumerate(every) if name == "FROM")
    return dict(every[last:])


def manifests() -> dict[str, Any]:
    """The Kubernetes manifests by kind."""
    text = (ROOT / "deploy/kubernetes/streamlin.yaml").read_text(encoding="utf-8")
    return {manifest["kind"]: manifest for manifest in yaml.safe_load_all(text)}


def parse(arguments: list[str]) -> dict[str, Any]:
    """A command's options. Raises where there is no such command or option."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # a group
    parsed: dict[str, Any] = commands[arguments[0]].make_context(arguments[0], arguments[1:]).params
    return parsed


def test_the_dockerfile_copies_what_is_there() -> None:
    """And `.dockerignore` lets it through."""
    allowed = re.findall(r"^!(.*)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE)
    copied = [shlex.split(rest)[:-1] for name, rest in instructions() if name == "COPY" and "--from" not in rest]
    names = [name for names in copied for name in names]
    assert sorted(names) == sorted(allowed)
    assert all((ROOT / name).exists() for name in names)


def test_the_dockerfile_has_two_stages_and_an_unprivileged_user() -> None:
    assert sum(name == "FROM" for name, _ in instructions()) == 2
    last = stage()
    assert last["USER"] == f"{USER}:{USER}"
    assert last["ENTRYPOINT"] == '["streamlin"]', "the exec form: a shell as process 1 would not pass signals on"
    assert {"HEALTHCHECK", "VOLUME", "EXPOSE"} <= last.keys()


def test_the_image_has_extras_that_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extras,) = re.findall(r"^ARG EXTRAS=(.*)$", DOCKERFILE, re.MULTILINE)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])


def test_both_stages_look_for_kernels_in_one_place() -> None:
    assert len(set(re.findall(r"NUMBA_CACHE_DIR=(\S+)", DOCKERFILE))) == 1
    assert len(set(re.findall(r"NUMBA_CPU_NAME=(\S+)", DOCKERFILE))) == 1
    assert len(re.findall(r"NUMBA_CACHE_DIR=", DOCKERFILE)) == 2


def test_the_pod_is_unprivileged_and_its_root_read_only() -> None:
    pod = manifests()["StatefulSet"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["runAsUser"] == USER
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["limits"].keys() == {"cpu", "memory"}


def test_the_pod_is_probed_where_metrics_are_served() -> None:
    (container,) = manifests()["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    (port,) = container["ports"]
    assert parse(container["args"])["metrics"] == f"0.0.0.0:{port['containerPort']}"
    paths = {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    for probe, path in paths.items():
        assert container[probe]["httpGet"] == {"path": path, "port": port["name"]}
    (service_port,) = manifests()["Service"]["spec"]["ports"]
    assert service_port["port"] == port["containerPort"]
    assert str(port["containerPort"]) in stage()["EXPOSE"].split()


def test_the_pod_has_the_volumes_that_it_writes_to() -> None:
    spec = manifests()["StatefulSet"]["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in spec["template"]["spec"]["volumes"]}
    claims = {claim["metadata"]["name"] for claim in spec["volumeClaimTemplates"]}
    assert mounts.keys() == volumes.keys() | claims
    assert volumes["tmp"]["emptyDir"] == {}
    files = manifests()["ConfigMap"]["data"]
    config = checked(tomllib.loads(files["streamlin.toml"]))
    assert str(config.checkpoint.path).startswith(f"{mounts['data']}/")
    assert str(parse(container["args"])["config"]) == f"{mounts['configuration']}/streamlin.toml"


def test_compose_starts_what_can_be_built() -> None:
    services = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text(encoding="utf-8"))["services"]
    service = services["streamlin"]
    assert (ROOT / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]).samefile(
        ROOT / "deploy/Dockerfile"
    )
    assert service["read_only"]
    options = parse(service["command"])
    assert options["metrics"].endswith(":9464")
    assert options["source"].startswith("kafka://kafka:19092/")


def may_unshare() -> bool:
    """Whether this process may make namespaces, and has the tools for it."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "setpriv", "findmnt"))):
        return False
    return subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], check=False).returncode == 0


def events_in(folder: Path) -> int:
    """How many events the checkpoint in a folder holds."""
    events: int = load(folder)[1]["evaluation"]["events"]
    return events


def test_process_1_on_a_read_only_system_obeys_sigterm(tmp_path: Path) -> None:
    """As a user without rights: exit 0, the summary shown, all of it in the checkpoint."""
    if not may_unshare():
        message = "process 1 needs unshare, setpriv, findmnt and the rights of root"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    kernels = os.environ.get("NUMBA_CACHE_DIR") or str(ROOT / "streamlin/__pycache__")
    environment = os.environ | {"NUMBA_CACHE_DIR": kernels, "HOME": "/mnt", "PYTHONDONTWRITEBYTECODE": "1"}
    run = [sys.executable, "-W", "error", "-m", "streamlin", "run", "--metrics", "0"]
    subprocess.run([*run, "synthetic://?events=500"], cwd=ROOT, env=environment, check=True, capture_output=True)
    data = tmp_path / "data"
    data.mkdir()
    os.chown(data, USER, USER)
    apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", str(ROOT / "tests/deploy/pid1.sh")]
    needed = [str(ROOT), sys.prefix, sys.base_prefix]
    stream = ["synthetic://?events=inf&rate=2000", "--checkpoint", "state", "--set", "checkpoint.every_seconds=0.2"]
    process = subprocess.Popen(
        [*apart, str(data), str(USER), *needed, "--", *run, *stream],
        env=environment | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until(lambda: (data / "state/previous.safetensors").exists() and events_in(data / "state"), process)
        (first,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        status = Path(f"/proc/{first}/status").read_text()
        assert f"NSpid:\t{first}\t1\n" in status
        assert f"Uid:\t{USER}\t" in status
        os.kill(int(first), signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert "compiling" not in err
    (shown,) = re.findall(r"^([\d,]+) events · ", out, re.MULTILINE)
    assert events_in(data / "state") == int(shown.replace(",", ""))
