"""river and scikit-learn are needed only by the modules that use them."""

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
        "print([name for name in ('river', 'sklearn', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
