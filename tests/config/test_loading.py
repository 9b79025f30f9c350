"""Where configuration values come from, and the messages about wrong ones."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

import pytest

from streamlin.config import CLUSTERERS, DEFAULT_KINDS, PARSERS, TAGGERS, RunConfig, learner_models
from streamlin.config.loading import load_config
from streamlin.errors import ConfigError


def configured(toml: str = "", folder: Path | None = None, **places: Any) -> RunConfig:
    """The configuration of a TOML text and other places, without the environment of the process."""
    if toml:
        assert folder is not None
        places["file"] = folder / "run.toml"
        places["file"].write_text(toml)
    return load_config(**{"environment": {}, **places})


NOT_AVERAGED = {"variant": 1, "averaged": False, "half_life": None}
"""Parameters of passive-aggressive learning beside C, by default."""


def names(config: RunConfig) -> list[str]:
    return [learner.name for learner in config.learners]


def test_the_defaults() -> None:
    config = configured()
    assert config == RunConfig()
    assert names(config) == list(DEFAULT_KINDS)
    assert (config.features.bits, list(config.features.views)) == (20, ["words"])
    assert (config.evaluation.window, config.evaluation.fading, config.evaluation.lead) == (1000, 0.999, None)
    assert config.checkpoint.every_events == 50_000
    pipeline = config.pipeline
    assert (pipeline.batch_size, pipeline.threads) == (4000, 2)
    assert (pipeline.max_record_bytes, pipeline.max_consecutive_dead_letters) == (10_000_000, 1000)


def test_the_documented_example_is_loaded(tmp_path: Path) -> None:
    config = configured(
        """
        [source]
        url = "kafka://localhost:9092/tickets"
        [fields]
        text = ["subject", "body"]
        label = "class"
        categories = ["product"]
        [features]
        bits = 20
        [features.words]
        tokens = "words"
        ngrams = [1, 2]
        values = "binary"
        [[learners]]
        kind = "passive_aggressive"
        C = 0.1
        [evaluation]
        window = 1000
        fading = 0.999
        [checkpoint]
        path = "state"
        every_events = 50_000
        [sinks]
        predictions = "kafka://localhost:9092/predictions"
        dead_letters = "dead.jsonl"
        """,
        tmp_path,
    )
    assert config.fields.text == ("subject", "body")
    assert config.fields.categories == ("product",)
    assert names(config) == ["passive_aggressive"]
    assert config.learners[0].parameters() == NOT_AVERAGED | {"C": 0.1}
    assert config.sinks.dead_letters == "dead.jsonl"


def test_flags_win_over_environment_over_file_over_defaults(tmp_path: Path) -> None:
    """Each place sets one key more than the place that wins over it; one default is left."""
    file = "[pipeline]\nbatch_size = 2\nthreads = 1\nmax_record_bytes = 2\nmax_consecutive_dead_letters = 2"
    environment = {
        f"STREAMLIN_PIPELINE__{key}": "3" for key in ("BATCH_SIZE", "MAX_RECORD_BYTES", "MAX_CONSECUTIVE_DEAD_LETTERS")
    }
    flags = {"pipeline.batch_size": 4, "pipeline.max_record_bytes": 4, "pipeline.threads": None}
    config = configured(file, tmp_path, environment=environment, flags=flags, sets=["pipeline.batch_size=5"])
    assert config.pipeline.model_dump() == {
        "batch_size": 5,
        "max_record_bytes": 4,
        "max_consecutive_dead_letters": 3,
        "threads": 1,
        "token_confidence": False,
        "novelty": False,
        "max_labels": 1000,
        "max_table_bytes": None,
        "max_label_characters": 1000,
        "max_id_characters": 4000,
        "max_field_characters": 10_000,
    }


def test_the_environment_of_the_process_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMLIN_FEATURES__BITS", "17")
    assert load_config().features.bits == 17


def test_environment_values_are_toml_or_bare_words() -> None:
    config = configured(
        environment={
            "STREAMLIN_FIELDS__TEXT": '["subject", "body"]',
            "STREAMLIN_FIELDS__LABEL": "class",
            "STREAMLIN_FEATURES__CHARS__NGRAMS": "[2, 3]",
            "STREAMLIN_SOURCE__FOLLOW": "true",
            "STREAMLIN_EVALUATION__FADING": "0.99",
            "OTHER_FEATURES__BITS": "3",
        }
    )
    assert (config.fields.text, config.fields.label) == (("subject", "body"), "class")
    assert config.features.views["chars"].ngrams == (2, 3)
    assert (config.source.follow, config.evaluation.fading, config.features.bits) == (True, 0.99, 20)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("features.bits=22", 22),
        (" features.bits = 22 ", 22),
        ("fields.label=class", "class"),
        ("fields.label='2'", "2"),
        ('fields.label="a=b"', "a=b"),
        ("fields.label=a=b", "a=b"),
        ("fields.label=", ""),
        ("fields.text=body", ("body",)),
        ('fields.text=["a", "b"]', ("a", "b")),
        ("evaluation.slice_by=split", ("split",)),
        ("source.follow=true", True),
        ("source.url=file:///x?a=b#c", "file:///x?a=b#c"),
        ("source.url=-", "-"),
        ("evaluation.fading=1e-3", 0.001),
        ("pipeline.max_record_bytes=5_000", 5000),
    ],
)
def test_set_takes_toml_values_and_bare_words(text: str, value: object) -> None:
    table, key = text.partition("=")[0].strip().split(".")
    assert getattr(getattr(configured(sets=[text]), table), key) == value


def test_set_takes_views_and_whole_tables() -> None:
    config = configured(sets=["features.chars.tokens=char_wb", "features.chars={tokens='char_wb', ngrams=[2, 4]}"])
    assert config.features.views["chars"].ngrams == (2, 4)
    assert list(config.features.views) == ["words", "chars"]


def test_set_addresses_a_learner_by_its_name(tmp_path: Path) -> None:
    file = """
    [[learners]]
    kind = "passive_aggressive"
    [[learners]]
    kind = "passive_aggressive"
    name = "bold"
    """
    config = configured(file, tmp_path, sets=["learners.bold.C=5", "learners.passive_aggressive.C=0.5"])
    assert [(learner.name, learner.parameters()) for learner in config.learners] == [
        ("passive_aggressive", NOT_AVERAGED | {"C": 0.5}),
        ("bold", NOT_AVERAGED | {"C": 5.0}),
    ]
    for sets in (["learners.naive_bayes.alpha=1"], ["learners=[]", "learners.naive_bayes.alpha=1"]):
        config = configured(sets=sets)
        assert names(config) == list(DEFAULT_KINDS)
        assert config.learners[0].parameters()["alpha"] == 1.0


def test_the_preset_of_log_lines_cuts_at_blanks(tmp_path: Path) -> None:
    """A tagging run of crf alone; own keys and learners win over it, one by one."""
    config = configured(flags={"preset": "log-template"})
    assert (config.task, names(config), config.features.bits) == ("tagging", ["crf"], 22)
    assert config.features.views["words"].tokens == "whitespace"
    plain = configured(
        'task = "tagging"\n[features.words]\ntokens = "whitespace"\n[[learners]]\nkind = "crf"', tmp_path
    )
    assert config.fingerprint() == plain.fingerprint()
    file = 'preset = "log-template"\n[features]\nbits = 18\n[[learners]]\nkind = "hmm"\n[fields]\ntext = "content"'
    own = configured(file, tmp_path)
    assert (own.task, names(own), own.features.bits, own.fields.text) == ("tagging", ["hmm"], 18, ("content",))
    assert own.features.views["words"].tokens == "whitespace"


@pytest.mark.parametrize(
    ("places", "line"),
    [
        ({"flags": {"preset": "accurate", "task": "tagging"}}, "for task = 'classification', got task = 'tagging'"),
        ({"sets": ["preset=accurate", "task=tagging"]}, "for task = 'classification', got task = 'tagging'"),
        ({"flags": {"preset": "accurate"}, "learners": ["crf"]}, "for task = 'classification', got the learner crf"),
        ({"sets": ["preset=log-template", "learners=[{kind = 'sgd'}]"]}, "for task = 'tagging', got the learner sgd"),
    ],
)
def test_a_preset_is_refused_with_another_task(places: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError, match=f"^preset: '[a-z-]+' is {line}"):
        configured(**places)


@pytest.mark.parametrize("value", ["nothing", "3", "[1]"])
def test_an_unknown_preset_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match=r"^preset: unknown preset .*; choose one of fast, accurate, log-template$"):
        configured(sets=[f"preset={value}"])


def test_no_slack_is_infinity(tmp_path: Path) -> None:
    """As a number in TOML; the fingerprint goes into JSON, which has none, and reads as the same configuration."""
    config = configured('[[learners]]\nkind = "passive_aggressive"\nC = inf', tmp_path)
    assert config.learners[0].parameters() == NOT_AVERAGED | {"C": inf}
    assert config == configured(learners=["passive_aggressive"], sets=["learners.passive_aggressive.C=inf"])
    fingerprint = json.loads(json.dumps(config.fingerprint(), allow_nan=False))
    assert RunConfig.model_validate(fingerprint) == config


def test_the_learner_flag_selects_and_orders_learners(tmp_path: Path) -> None:
    assert names(configured(learners=["perceptron", "naive_bayes"])) == ["perceptron", "naive_bayes"]
    file = """
    [[learners]]
    kind = "passive_aggressive"
    name = "bold"
    C = 5
    [[learners]]
    kind = "naive_bayes"
    name = "passive_aggressive"
    """
    config = configured(file, tmp_path, learners=["bold", "naive_bayes", "logistic_regression"])
    assert names(config) == ["bold", "passive_aggressive", "logistic_regression"]
    assert config.learners[0].parameters() == NOT_AVERAGED | {"C": 5.0}
    chosen = configured(file, tmp_path, learners=["passive_aggressive"]).learners[0]
    assert chosen.kind == "naive_bayes", "a name wins over a kind"
    assert configured(learners=["perceptron"], sets=["learners.perceptron.name=p"]).learners[0].name == "p"


def refused(**places: Any) -> str:
    """The one-line message."""
    with pytest.raises(ConfigError) as error:
        configured(**places)
    line = str(error.value)
    assert error.value.exit_code == 2
    assert "\n" not in line
    return line


KINDS = ", ".join([*learner_models(), *TAGGERS, *PARSERS, *CLUSTERERS])


@pytest.mark.parametrize(
    ("sets", "line"),
    [
        (
            "features.bits=x",
            "features.bits: input should be a valid integer, got 'x'",
        ),
        ("features.bits=0", "features.bits: input should be greater than or equal to 1, got 0"),
        ("features.bits=32", "features.bits: input should be less than or equal to 31, got 32"),
        ("features.bit=3", "features.bit: unknown key; did you mean 'bits'?"),
        ("fetures.bits=3", "fetures: unknown key; did you mean 'features'?"),
        ("fields.lable=y", "fields.lable: unknown key; did you mean 'label'?"),
        ("sinks.xyz=y", "sinks.xyz: unknown key; choose one of predictions, labels_wanted, dead_letters"),
        ("features.words.tokns=words", "features.words.tokns: unknown key; did you mean 'tokens'?"),
        (
            "features.words.tokens=wrds",
            "features.words.tokens: input should be 'words', 'scikit-learn', 'whitespace', 'char_wb', 'first', 'head', "
            "'skip' or 'shape', got 'wrds'",
        ),
        (
            ["features.words.tokens=skip", "features.words.ngrams=[1, 2]"],
            "features.words.ngrams: not for tokens = 'skip', whose features are no n-grams, got [1, 2]",
        ),
        (
            ["features.words.tokens=shape", "features.words.lowercase=true"],
            "features.words.lowercase: not for tokens = 'shape', which reads the text as it is written, got True",
        ),
        (
            ["task=tagging", "features.words.tokens=skip"],
            "features.words.tokens: not for task = 'tagging', got 'skip'; expected what cuts a text into tokens, such "
            "as 'words' or 'whitespace'",
        ),
        (
            "learners=[{kind = 'arow', features = ['words', 'skip']}]",
            "learners.arow.features: no view 'skip'; choose one of words",
        ),
        (
            "learners=[{kind = 'arow', features = ['words', 'words']}]",
            "learners.arow.features: expected at least one view, each once, got ['words', 'words']",
        ),
        (
            "learners=[{kind = 'arow', features = []}]",
            "learners.arow.features: expected at least one view, each once, got []",
        ),
        ("features.words.ngrams=[2, 1]", "features.words.ngrams: expected [shortest, longest], at most 32, got [2, 1]"),
        (
            "features.words.ngrams=[1, 33]",
            "features.words.ngrams: expected [shortest, longest], at most 32, got [1, 33]",
        ),
        ("features.words.ngrams=2", "features.words.ngrams: expected a list, got 2"),
        (
            "features.words.masks=ips",
            "features.words.masks.0: input should be 'uuid', 'ip', 'hex' or 'number', got 'ips'",
        ),
        ("features=3", "features: expected a table, got 3"),
        ("source=x.jsonl", "source: expected a table, got 'x.jsonl'"),
        ("source.url.x=1", "source.url: input should be a valid string, got {'x': 1}"),
        (
            "source.follow=maybe",
            "source.follow: input should be a valid boolean, unable to interpret input, got 'maybe'",
        ),
        ("fields.text=[]", "fields.text: expected at least one field, got []"),
        ("evaluation.slice_by=3", "evaluation.slice_by: expected a list, got 3"),
        ("evaluation.fading=1", "evaluation.fading: input should be less than 1, got 1"),
        ("evaluation.fading=nan", "evaluation.fading: input should be a finite number, got nan"),
        ("evaluation.window=0", "evaluation.window: input should be greater than or equal to 1, got 0"),
        (
            "evaluation.kswin_window=30",
            "evaluation.kswin_stat_size: must be below kswin_window = 30, got 30",
        ),
        (
            "evaluation.kswin_stat_size=1",
            "evaluation.kswin_alpha: must be at least 0.02, the least p of 1 of 100 events, got 0.005",
        ),
        (
            "evaluation.kswin_window=29",
            "evaluation.kswin_window: input should be greater than or equal to 30, got 29",
        ),
        ("evaluation.lead=nb", f"evaluation.lead: no learner 'nb'; choose one of {', '.join(DEFAULT_KINDS)}"),
        ("pipeline.threads=257", "pipeline.threads: input should be less than or equal to 256, got 257"),
        (
            "checkpoint.path=2024-01-01",
            "checkpoint.path: input should be a valid string, got datetime.date(2024, 1, 1)",
        ),
        ("learners.naive_bayes.alpha=0", "learners.naive_bayes.alpha: input should be greater than 0, got 0"),
        ("learners.naive_bayes.alpa=1", "learners.naive_bayes.alpa: unknown key; did you mean 'alpha'?"),
        ("learners=[{kind = 'sgd', l2 = 3}]", "learners.sgd: sgd.l2 must be at most 1 / eta = 2, got 3.0"),
        (
            "learners.passive_aggressive.C=nan",
            "learners.passive_aggressive.C: input should be greater than 0, got nan",
        ),
        (
            "learners=[{kind = 'passive_aggressive', half_life = 30}]",
            "learners.passive_aggressive: passive_aggressive.half_life is of the mean: it needs averaged = true, "
            "got 30.0",
        ),
        (
            "learners.naive_bays.alpha=1",
            "--set learners.naive_bays.alpha: no learner 'naive_bays'; did you mean 'naive_bayes'?",
        ),
        (
            "learners.perceptron=1",
            "--set learners.perceptron: expected learners.NAME.KEY, as in learners.passive_aggressive.C",
        ),
        ("learners.perceptron.features=chars", "learners.perceptron.features: no view 'chars'; choose one of words"),
        ("learners=naive_bayes", "learners: expected [[learners]] tables, got 'naive_bayes'"),
        ("learners={naive_bayes = {}}", "learners: expected [[learners]] tables, got {'naive_bayes': {}}"),
        ("learners=['naive_bayes']", "learners.0: expected a table, got 'naive_bayes'"),
        ("learners=[{kind = 'naive_bays'}]", "learners: no learner 'naive_bays'; did you mean 'naive_bayes'?"),
        ("learners=[{name = 'x'}]", f"learners.x: kind is missing; choose one of {KINDS}"),
        ("learners=[{kind = 5}]", f"learners: no learner '5'; choose one of {KINDS}"),
        ("learners=[{kind = ['perceptron']}]", "learners: no learner '['perceptron']'; did you mean 'perceptron'?"),
        ("learners=[{kind = 'river'}]", "learners.river.object: a value is missing"),
        (
            "learners=[{kind = 'river', object = 'bayes'}]",
            r"learners.river.object: string should match pattern '^[\w.]+:[\w.]+$', got 'bayes'",
        ),
        (
            "learners=[{kind = 'sklearn', object = 'a:b', classes = ['x', 'x']}]",
            "learners.sklearn.classes: needs at least two labels, each once, got ['x', 'x']",
        ),
        (
            "learners=[{kind = 'sklearn', object = 'a:b', classes = 'x'}]",
            "learners.sklearn.classes: needs at least two labels, each once, got 'x'",
        ),
        (
            "learners=[{kind = 'sklearn', object = 'a:b', features = 'chars'}]",
            "learners.sklearn.features: no view 'chars'; choose one of words",
        ),
        (
            "learners=[{kind = 'perceptron'}, {kind = 'perceptron'}]",
            "learners: two are named 'perceptron'; give each its own name",
        ),
        (
            "learners=[{kind = 'perceptron', name = 'events'}]",
            "learners: the name 'events' is reserved; give the learner another name",
        ),
        (
            "learners.perceptron.C.x=1",
            "--set learners.perceptron.C.x: no learner 'perceptron.C'; did you mean 'perceptron'?",
        ),
        ("features.words=3", "features.words: expected a table, got 3"),
        ("ask.budget=0", "ask.budget: input should be greater than 0, got 0"),
        ("ask.budget=1.5", "ask.budget: input should be less than or equal to 1, got 1.5"),
        (
            "ask.budget=0.1",
            "ask.budget: expected labels by id, --late-labels or --feedback, by which answers come back",
        ),
        ("bits", "--set bits: expected KEY=VALUE, as in features.bits=22"),
        ("=3", "--set =3: expected KEY=VALUE, as in features.bits=22"),
    ],
)
def test_a_wrong_setting_is_explained_in_one_line(sets: str | list[str], line: str) -> None:
    assert refused(sets=[sets] if isinstance(sets, str) else sets) == line


def test_a_wrong_key_is_reported_before_learners_are_imported() -> None:
    """Importing them takes more than a second."""
    code = (
        "import sys\nfrom streamlin import ConfigError, load_config\n"
        "try:\n    load_config(sets=['features.bitz=3'], environment={})\n"
        "except ConfigError as error:\n    print(error, 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "features.bitz: unknown key; did you mean 'bits'? False\n"


def test_a_learner_name_may_contain_dots() -> None:
    config = load_config(
        None, {}, ["learners=[{kind = 'naive_bayes', name = 'nb.v1'}]", "learners.nb.v1.alpha=2"], (), {}
    )
    assert config.learners[0].parameters()["alpha"] == 2.0


def test_wrong_learners_are_reported_before_their_keys() -> None:
    for wrong, line in [
        ("learners=['x']", "learners.0: expected a table, got 'x'"),
        ("learners={x = {C = 1}}", "learners: expected [[learners]] tables, got {'x': {'C': 1}}"),
    ]:
        assert refused(sets=[wrong, "learners.x.C=1"]) == line


def test_a_value_is_not_a_table() -> None:
    line = refused(flags={"source.url": "in.jsonl"}, sets=["source.url.format=csv"])
    assert line == "source.url.format: 'source.url' is not a table"


def test_a_long_value_is_shortened_in_messages() -> None:
    line = refused(sets=[f"features.bits={'x' * 500}"])
    assert line.endswith("…")
    assert len(line) < 200


@pytest.mark.parametrize(
    ("learners", "line"),
    [
        (["naive_bays"], "--learner naive_bays: no such learner; did you mean 'naive_bayes'?"),
        (["svm"], f"--learner svm: no such learner; choose one of {KINDS}"),
        (["perceptron", "perceptron"], "learners: two are named 'perceptron'; give each its own name"),
    ],
)
def test_an_unknown_or_repeated_learner_is_refused(learners: Sequence[str], line: str) -> None:
    assert refused(learners=learners) == line


def test_an_unknown_learner_suggests_a_configured_name(tmp_path: Path) -> None:
    file = '[[learners]]\nkind = "perceptron"\nname = "mistake_driven"'
    line = refused(toml=file, folder=tmp_path, learners=["mistake-driven"])
    assert line == "--learner mistake-driven: no such learner; did you mean 'mistake_driven'?"


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        ({"STREAMLIN_FEATURES__BITS": "x"}, "features.bits: input should be a valid integer"),
        ({"STREAMLIN_FEATURES__BIT": "3"}, "features.bit: unknown key; did you mean 'bits'?"),
        ({"STREAMLIN_LEARNERS": "[]"}, "STREAMLIN_LEARNERS: set learners in the file or by flags"),
        (
            {"STREAMLIN_LEARNERS__PERCEPTRON__NAME": "x"},
            "STREAMLIN_LEARNERS__PERCEPTRON__NAME: set learners in the file or by flags",
        ),
        ({"STREAMLIN_SOURCE": "x", "STREAMLIN_SOURCE__URL": "y"}, "source.url: 'source' is not a table"),
    ],
)
def test_a_wrong_environment_is_refused(environment: Mapping[str, str], line: str) -> None:
    assert refused(environment=environment).startswith(line)


def test_unreadable_and_invalid_files_are_refused(tmp_path: Path) -> None:
    missing, folder, binary = tmp_path / "missing.toml", tmp_path / "folder", tmp_path / "binary.toml"
    folder.mkdir()
    binary.write_bytes(b"\xff\xfe")
    assert refused(file=missing) == f"--config {missing}: No such file or directory"
    assert refused(file=folder) == f"--config {folder}: Is a directory"
    assert refused(file=binary).startswith(f"--config {binary}: not TOML: ")
    line = refused(toml="[features]\nbits = \n", folder=tmp_path)
    assert line.startswith(f"--config {tmp_path}/run.toml: not TOML: ")
    assert "line 2" in line


def test_messages_name_the_learner_or_view(tmp_path: Path) -> None:
    file = '[[learners]]\nkind = "perceptron"\n[[learners]]\nkind = "passive_aggressive"\nname = "bold"\nC = -1'
    assert refused(toml=file, folder=tmp_path) == "learners.bold.C: input should be greater than 0, got -1"
    file = "[features.chars]\nvalue = 'binary'"
    assert refused(toml=file, folder=tmp_path) == "features.chars.value: unknown key; did you mean 'values'?"


def test_the_fingerprint_covers_what_affects_weights_and_metrics() -> None:
    ours = configured().fingerprint()
    for free in (
        "source.url=x",
        "sinks.predictions=x",
        "pipeline.batch_size=3",
        "pipeline.threads=1",
        "checkpoint.path=x",
    ):
        assert configured(sets=[free]).fingerprint() == ours
    for bound in ("features.bits=3", "fields.label=x", "evaluation.window=3", "learners.perceptron.name=x"):
        assert configured(sets=[bound]).fingerprint() != ours
    assert list(ours) == ["task", "fields", "features", "learners", "evaluation"]


def test_messages_name_the_environment_variable() -> None:
    environment = {"STREAMLIN_FEATURES__BITS": "x", "STREAMLIN_EVALUATION__WINDOW": "0"}
    with pytest.raises(ConfigError, match=r"^features\.bits: .*\(from STREAMLIN_FEATURES__BITS\)$"):
        load_config(environment=environment)
    with pytest.raises(ConfigError, match=r"^features\.bits: .*got 99$"):
        load_config(environment=environment, sets=["features.bits=99"])
    with pytest.raises(ConfigError, match=r"^feature: .*\(from STREAMLIN_FEATURE__BITS\)$"):
        load_config(environment={"STREAMLIN_FEATURE__BITS": "3"})
