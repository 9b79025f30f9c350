"""The command `streamlin warm`."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from streamlin.commands import options
from streamlin.errors import ConfigError, StreamlinError
from streamlin.terminal.printing import print_result

_FILES = {
    "events.jsonl": '{"id": "1", "text": "win a prize at 10.0.0.1", "label": "spam"}\n'
    '{"id": "2", "text": "läuft", "label": "ham"}\n{"id": "3", "text": "win", "label": "spam", "weight": 2}\n'
    '{"id": "4", "text": "noon"}\n{"id": "4", "label": "ham"}\n',
    "events.csv": 'text,label\n"a, b",x\nc,y\n',
    "sentences.jsonl": '{"id": "1", "tokens": ["the", "dog"], "tags": ["DET", "N"], "pos": ["d", "n"]}\n'
    '{"id": "2", "text": "a läuft", "tags": ["DET", null]}\n{"id": "3", "tokens": ["the", "cat"]}\n'
    '{"id": "3", "tags": ["DET", "N"]}\n',
    "trees.bracketed": "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n(S (NP (DT a) (NN cat)) (VP (VBZ sees)))\n",
    "learn_one.py": """
import streamlin
for name in ("NaiveBayes", "Perceptron", "AveragedPerceptron", "PassiveAggressive", "LogisticRegression"):
    learner = getattr(streamlin, name)().learn_one("a b", "x").learn_one({"c": 1.0}, "y")
    learner.predict_one("a"), learner.predict_proba_one("b")
""",
}
_EVENT = '{"id": "1", "text": "win \\"a\\" prize", "label": "spam"}\n'
_SENTENCE = '{"id": "1", "tokens": ["the", "dog", "barks"], "tags": ["DET", "N", "V"]}\n'
_KINDS = "naive_bayes perceptron averaged_perceptron passive_aggressive logistic_regression hinge sgd arow mixture"
_ALL = f"--set=learners={[{'kind': kind} for kind in _KINDS.split()]}".replace(":", " =")
_WORDS = ["--set=features.words.masks=['uuid', 'ip', 'hex', 'number']", "--set=features.words.min_count=2"]
_TEXTS = ["run", "events.jsonl", "--late-labels", "--slice-by=id", _ALL, "--set=features.names=100", *_WORDS]
_KEPT = ["--predictions=predictions.jsonl", "--checkpoint=state"]
_TAGS = ["run", "sentences.jsonl", "--task=tagging", "--late-labels", "--slice-by=id"]
_SHARES = ["--set=pipeline.token_confidence=true", "--predictions=tagged.jsonl", "--checkpoint=tagging"]
_TOPICS = ["--task=topics", *(f"--learner={kind}" for kind in ["leader", "k_means", "soft_k_means"])]
_TOPICS += ["--predictions=clusters.jsonl", "--checkpoint=topics"]
Command = Sequence[str]
_COMMANDS: dict[str, tuple[tuple[Command, ...], ...]] = {
    "classification": (
        ([*_TEXTS, *_KEPT], [*_TEXTS, *_KEPT], ["predict", "state", "events.jsonl"], ["explain", "state", "a prize"]),
        (["demo", "--limit=2000", "--preset=accurate"], ["demo", "--limit=2000", "--predictions=demo.jsonl"]),
        *((["demo", "--limit=500", f"--set=evaluation.drift={drift}"],) for drift in ("page_hinkley", "ddm", "kswin")),
        *(
            (["run", "events.csv", f"--set=features.words.tokens={tokens}", "--set=features.words.values=log"],)
            for tokens in ("scikit-learn", "whitespace", "char_wb")
        ),
        (["run", "events.jsonl", "--drain", "--learner=naive_bayes"],),
        (["run", "many.jsonl", "--learner=naive_bayes", "--predictions=predictions.jsonl"],),
        (["learn_one.py"],),
    ),
    "tagging": (
        ([*_TAGS, *_SHARES], [*_TAGS, *_SHARES], ["predict", "tagging", "sentences.jsonl"]),
        ([*_TAGS, "--set=fields.columns=['pos']"],),
        (["run", "many_sentences.jsonl", "--task=tagging", "--learner=hmm", "--predictions=tagged.jsonl"],),
    ),
    "topics": (
        (["run", "events.jsonl", *_TOPICS], ["run", "events.jsonl", *_TOPICS]),
        (["run", "many.jsonl", "--task=topics", "--learner=leader", "--predictions=clusters.jsonl"],),
    ),
    "parsing": ((["run", "trees.bracketed", "--task=parsing", "--predictions=parsed.jsonl"],),),
}
"""For each task, commands that use all kernels; those of one tuple follow each other."""


def warm(task: options.TaskName = None, log_format: options.LogFormat = "text") -> None:
    """Compile all kernels, or those of a task, and keep them: for images, and before a first run."""
    from streamlin.kernel.folders import cache_folder

    if task is not None and task not in _COMMANDS:
        raise ConfigError(f"--task: expected one of {', '.join(_COMMANDS)}, got {task!r}")
    folder = cache_folder()
    if folder is None or not _is_writable(folder):
        named = "there is no home folder" if folder is None else f"{folder} can't be written to"
        raise ConfigError(f"warm: {named}, so compiled kernels can't be kept; NUMBA_CACHE_DIR names another folder")
    sequences = [commands for name, each in _COMMANDS.items() if task in (None, name) for commands in each]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(_run, sequences))
    print_result(f"{len(list(folder.rglob('*.nbc'))):,} compiled kernels in {folder}", sys.stdout)


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _run(commands: Sequence[Command]) -> None:
    """Run commands in a folder of their own, one after the other. Raises StreamlinError if one fails."""
    from streamlin.kernel.late import ALONE

    environment = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIN_")}
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (_FILES | _long_files()).items():
            if any(name in command for command in commands):
                Path(folder, name).write_text(content, encoding="utf-8")
        for command in commands:
            program = command if command[0].endswith(".py") else ["-m", "streamlin", *command]
            words = [sys.executable, "-X", ALONE, *program]  # nothing is left to another process, or to Python
            done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                raise StreamlinError(f"warm: {' '.join(command)} failed: {done.stderr.strip()[-300:]}")


@cache
def _long_files() -> dict[str, str]:
    """Files of which more is read than kernels of JSON leave to another decoder while they are not compiled."""
    from streamlin.formats import flat_columns, flat_sentences

    return {
        "many.jsonl": _EVENT * ((flat_columns.FIRST + 2_000_000) // len(_EVENT)),
        "many_sentences.jsonl": _SENTENCE * (flat_sentences.FIRST + 1000),
    }
