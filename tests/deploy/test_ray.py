"""Ray clusters for workers: what their files say fits together, and fits the package."""

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from tests.deploy.test_container import USER, parse
from tests.locations import ROOT

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
TEXT = (ROOT / "deploy/kubernetes/ray.yaml").read_text(encoding="utf-8")
KUBERNETES: dict[str, Any] = {one["kind"]: one for one in yaml.safe_load_all(TEXT)}
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy/ray/cluster.yaml").read_text(encoding="utf-8"))
PARSE = """
import json, sys
from ray.scripts.scripts import start
for options in json.load(sys.stdin):
    start.make_context("start", options)
"""
"""For a process of its own: Ray reads the environment when it is imported, and other tests need it otherwise."""
(RUN,) = KUBERNETES["StatefulSet"]["spec"]["template"]["spec"]["containers"]


def pods() -> list[dict[str, Any]]:
    """Head, workers, run."""
    spec = KUBERNETES["RayCluster"]["spec"]
    groups = [spec["headGroupSpec"], *spec["workerGroupSpecs"], KUBERNETES["StatefulSet"]["spec"]]
    return [group["template"] for group in groups]


def of_run(container: dict[str, Any]) -> dict[str, Any]:
    """The options that the command of a container ends up with."""
    first, *rest = container["args"]
    return parse(["run", *rest, "--address", first])


def test_versions_of_ray_are_those_of_the_extra() -> None:
    """Of the cluster in Kubernetes, and the one that is tested here."""
    (wanted,) = map(Requirement, EXTRAS["cluster"])
    assert wanted.name == "ray"
    assert wanted.specifier.contains(KUBERNETES["RayCluster"]["spec"]["rayVersion"])
    assert wanted.specifier.contains(version("ray"))


def test_all_pods_have_one_image_with_the_extra_one_token_and_no_rights() -> None:
    (extras,) = re.findall(r"EXTRAS=(\S+)", TEXT)
    assert {"cluster", "kafka", "metrics"} <= set(extras.split(",")) <= EXTRAS.keys()
    for pod in pods():
        (container,) = pod["spec"]["containers"]
        env = {one["name"]: one for one in container["env"]}
        assert container["image"] == re.findall(r"-t (\S+) \.", TEXT)[0] + ":latest"
        assert env["RAY_AUTH_MODE"]["value"] == "token"
        assert env["RAY_AUTH_TOKEN"]["valueFrom"]["secretKeyRef"] == {"name": "streamlin-ray", "key": "auth_token"}
        assert pod["spec"]["securityContext"]["runAsUser"] == USER
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        labels = KUBERNETES["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"]
        assert labels.items() <= pod["metadata"]["labels"].items()


def test_the_run_joins_the_cluster_with_a_worker_for_each_node() -> None:
    cluster = KUBERNETES["RayCluster"]
    options = of_run(RUN)
    (group,) = cluster["spec"]["workerGroupSpecs"]
    ports = {port["name"]: port["containerPort"] for port in pods()[0]["spec"]["containers"][0]["ports"]}
    assert options["address"] == f"{cluster['metadata']['name']}-head-svc:{ports['gcs-server']}"
    assert options["workers"] == group["replicas"] * int(group["rayStartParams"]["num-cpus"])
    assert options["shards"] % options["workers"] == 0
    assert cluster["spec"]["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    mounts = [mount["mountPath"] for mount in RUN["volumeMounts"]]
    assert any(options["checkpoint"].startswith(mount) for mount in mounts)


def test_probes_ask_ports_that_ray_listens_on() -> None:
    """Those that KubeRay would add ask Ray's dashboard, which the image lacks."""
    head, worker = (pod["spec"]["containers"][0] for pod in pods()[:2])
    (group,) = KUBERNETES["RayCluster"]["spec"]["workerGroupSpecs"]
    ports = (head["ports"][0]["containerPort"], int(group["rayStartParams"]["node-manager-port"]))
    for container, port in zip((head, worker), ports, strict=True):
        assert container["livenessProbe"]["tcpSocket"] == container["readinessProbe"]["tcpSocket"] == {"port": port}


def test_ray_takes_the_options_that_its_nodes_are_started_with() -> None:
    spec = KUBERNETES["RayCluster"]["spec"]
    groups = (spec["headGroupSpec"], *spec["workerGroupSpecs"])
    pods_given = [[f"--{name}={value}" for name, value in group["rayStartParams"].items()] for group in groups]
    joins = [*COMPOSE["services"]["run"]["entrypoint"], *RUN["command"]]
    commands = [re.findall(r"ray start (.+?) &&", part) for part in joins]
    given = [found[0].split() for found in commands if found]
    nodes = [COMPOSE["services"][name]["command"][1:] for name in ("head", "node")]
    assert len(given) == 2
    told = json.dumps([*pods_given, *given, *nodes])
    parsed = subprocess.run([sys.executable, "-c", PARSE], input=told, text=True, capture_output=True)
    assert parsed.returncode == 0, parsed.stderr


def test_the_compose_cluster_publishes_no_port_and_wants_a_token() -> None:
    services = COMPOSE["services"]
    for service in services.values():
        assert "ports" not in service
        assert service["environment"]["RAY_AUTH_MODE"] == "token"
        assert service["environment"]["RAY_AUTH_TOKEN"].startswith("${RAY_AUTH_TOKEN:?")
        assert {"cluster"} <= set(service["build"]["args"]["EXTRAS"].split(",")) <= EXTRAS.keys()
    addresses = re.findall(r"--address[= ](\S+)(?= --num|\")", " ".join(map(str, services["run"]["entrypoint"])) + '"')
    assert set(addresses) == {"head:6379"}
    assert "--port=6379" in services["head"]["command"]


@pytest.mark.parametrize("text", [TEXT, (ROOT / "deploy/ray/cluster.yaml").read_text(encoding="utf-8")])
def test_every_environment_variable_is_one_that_the_run_sets_too(text: str) -> None:
    """Without `nice` and without statistics, as where a run starts Ray itself."""
    source = (ROOT / "streamlin/cluster/engine.py").read_text(encoding="utf-8")
    assert set(re.findall(r"RAY_\w+", text)) <= {*re.findall(r"RAY_\w+", source), "RAY_AUTH_TOKEN"}
