"""A built-in learner is one file and one line of the registry: those of docs/extending/learner.md."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import streamlin
from tests.docs.pages import DOCS, ROOT, Page, table_rows

PAGE = Page("docs/extending/learner.md")
PROGRAM = """
import inspect, json, pickle
import sklearn.base
import streamlin
from streamlin import ConfigError, NearestCentroid, river
from streamlin import sklearn as wrappers
from streamlin.config.loading import load_config
from streamlin.learners import KINDS, from_config
from streamlin.testing import check_learner

def refused(action, *arguments, **keys):
    try:
        action(*arguments, **keys)
    except ConfigError as error:
        return str(error)

def configured(*sets):
    return load_config(learners=["nearest_centroid"], sets=sets, environment={})

check_learner(NearestCentroid)
texts, labels = ["a b", "c d", "b a"], ["x", "y", "x"]
in_river = river.NearestCentroid(prior=2.0).clone({"prior": 0.5})
for text, label in zip(texts, labels):
    in_river.learn_one(text, label)
in_sklearn = sklearn.base.clone(wrappers.NearestCentroid(prior=2.0)).fit(texts, labels)
learner = from_config(configured("learners.nearest_centroid.prior=4").learners[0])
classes = [NearestCentroid, river.NearestCentroid, wrappers.NearestCentroid]
print(json.dumps({
    "kind": list(KINDS)[-1],
    "public": "NearestCentroid" in streamlin.__all__,
    "configured": [type(learner).__name__, learner.prior],
    "limit": refused(configured, "learners.nearest_centroid.prior=-1"),
    "key": refused(configured, "learners.nearest_centroid.priro=1"),
    "constructor": refused(NearestCentroid, prior=-1),
    "signatures": [list(inspect.signature(cls).parameters) for cls in classes],
    "documented": ["prior : how much frequent labels are favoured." in cls.__doc__ for cls in classes],
    "river": [in_river.prior, in_river.predict_one("d"), pickle.loads(pickle.dumps(in_river)).prior],
    "sklearn": [in_sklearn.get_params(), in_sklearn.predict(["d"]).tolist()],
}))
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package, the generator and the pages, with the learner added to the package."""
    (source,) = [block.text for block in PAGE.blocks if block.file() == "centroid.py"]
    (line,) = re.findall(r"^ *(from streamlin\.learners\.centroid import .*)$", PAGE.text, re.MULTILINE)
    package = tmp_path / "streamlin"
    shutil.copytree(Path(streamlin.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "generator", tmp_path / "generator", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(DOCS, tmp_path / "docs")
    own = source.replace("from streamlin import Learner", "from streamlin.learners.base import Learner")
    (package / "learners" / "centroid.py").write_text(own, encoding="utf-8")
    with (package / "learners" / "builtin.py").open("a", encoding="utf-8") as registry:
        registry.write(f"{line}\n")
    return tmp_path


def python(folder: Path, *arguments: str) -> str:
    """What Python prints in the copy, where kernels run as plain Python."""
    environment = os.environ | {"PYTHONPATH": str(folder), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_file_and_one_line_add_a_learner(copy: Path) -> None:
    assert json.loads(python(copy, "-c", PROGRAM)) == {
        "kind": "nearest_centroid",
        "public": True,
        "configured": ["NearestCentroid", 4.0],
        "limit": "learners.nearest_centroid.prior: input should be greater than or equal to 0, got -1",
        "key": "learners.nearest_centroid.priro: unknown key; did you mean 'prior'?",
        "constructor": "nearest_centroid.prior must be greater than or equal to 0, got -1",
        "signatures": [["prior", "features"]] * 3,
        "documented": [True] * 3,
        "river": [0.5, "y", 0.5],
        "sklearn": [{"prior": 2.0, "features": None}, ["y"]],
    }


def test_the_generator_writes_what_type_checkers_and_readers_need(copy: Path) -> None:
    """A section before that of the mixture, keys, arrays, reference, stubs; nothing when it runs again."""
    before = (copy / "docs/learners.md").read_text(encoding="utf-8")
    changed = set(python(copy, "-m", "generator").splitlines())
    stubs = {"streamlin/river/__init__.pyi", "streamlin/sklearn/__init__.pyi"}
    pages = ("learners.md", "configuration.md", "architecture.md", "reference/learners.md")
    assert changed == stubs | {f"docs/{page}" for page in pages}
    text = {name: (copy / name).read_text(encoding="utf-8") for name in changed}

    section, rest = (
        text["docs/learners.md"].split("## Nearest centroid: `nearest_centroid`\n")[1].split("## A mixture", 1)
    )
    assert before.endswith(rest)
    assert "label k:\n\n```\nscore_k = 2 x.c_k - |c_k|^2 + prior log n_k\n```\n" in section
    (row,) = table_rows(section, "parameter")
    assert row == ["`prior`", "number ≥ 0", "`0.0`", "how much frequent labels are favoured"]

    keys = {name: cells for name, *cells in table_rows(text["docs/configuration.md"], "key")}
    assert keys["`learners.nearest_centroid.prior`"] == row[1:]
    assert '`"nearest_centroid"`' in keys["`learners.NAME.kind`"][0]
    arrays = {
        (name, kind): cells for name, kind, *cells in table_rows(text["docs/architecture.md"], "array of a learner")
    }
    holds = "the weighted sum of each label's texts"
    assert arrays["`learners/NAME/sums`", "`nearest_centroid`"] == ["`float64`", "`[rows, labels]`", holds]
    assert "\n::: streamlin.NearestCentroid\n" in text["docs/reference/learners.md"]
    assert all("class NearestCentroid(OnlineClassifier):" in text[stub] for stub in stubs)
    assert all("        prior: float = 0.0,\n" in text[stub] for stub in stubs)
    assert python(copy, "-m", "generator") == ""
