"""Each extra is needed only by the modules that use it."""

import subprocess
import sys

import pytest

ABSENT = "import sys; sys.modules[{package!r}] = None\nimport streamlin\nimport streamlin.{extra}"


@pytest.mark.parametrize(("extra", "package"), [("river", "river"), ("sklearn", "sklearn")])
def test_a_missing_package_is_named_with_its_extra(extra, package):
    code = ABSENT.format(extra=extra, package=package)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"ModuleNotFoundError: streamlin.{extra} needs {package}, which is not installed: "
        f"pip install 'streamlin[{extra}]'"
    )


def test_streamlin_imports_no_optional_package():
    code = (
        "import sys, streamlin\n"
        "for name in streamlin.__all__: getattr(streamlin, name)\n"
        "import streamlin.cli, streamlin.running.loop, streamlin.cluster.workers\n"
        "print([name for name in ('ray', 'river', 'sklearn', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


SERVES = """
import sys, urllib.request
sys.modules |= dict.fromkeys({absent!r})
from streamlin.monitoring.listener import listen
from streamlin.monitoring.{package}.server import {serve}
from streamlin.monitoring.{package}.watcher import {watcher}
listener = listen("test", "0")
server = {serve}({watcher}(), listener)
print(urllib.request.urlopen(listener.url + {path!r}).status)
server.close()
"""
ALONE = [
    ("dashboard", "serve_page", "Dashboard", "page.js", ("prometheus_client", "httptools", "uvloop")),
    ("prometheus", "serve_metrics", "Metrics", "healthz", ("httptools", "uvloop")),
]


@pytest.mark.parametrize(("package", "serve", "watcher", "path", "absent"), ALONE)
def test_page_and_metrics_need_only_their_own_extra(package, serve, watcher, path, absent):
    code = SERVES.format(package=package, serve=serve, watcher=watcher, path=path, absent=absent)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "200\n"
