"""The configurations of every tool that are compared, by name; add a learner or preset to compare here."""

LEARNERS = ("naive_bayes", "perceptron", "averaged_perceptron", "passive_aggressive", "logistic_regression")
ALL, ALL_MIXED, ACCURATE = "all five", "all five, mixture", "accurate"
_MIXED = tuple(f"--learner={kind}" for kind in (*LEARNERS, "mixture"))


def _streamlin(longest: int, *options: str) -> tuple[str, ...]:
    """Options of `streamlin run` for texts that are split into tokens already, see `peer_stream.py`."""
    view = ("features.words.tokens=whitespace", f"features.words.ngrams=[1, {longest}]")
    return (*(f"--set={setting}" for setting in view), *options)


STREAMLIN: dict[str, tuple[str, ...]] = {
    **{kind: _streamlin(1, "--learner", kind) for kind in (*LEARNERS, "sgd")},
    ALL: _streamlin(1),
    ALL_MIXED: _streamlin(1, *_MIXED),
    **{f"{kind}, bigrams": _streamlin(2, "--learner", kind) for kind in LEARNERS},
    f"{ALL}, bigrams": _streamlin(2),
    f"{ALL_MIXED}, bigrams": _streamlin(2, *_MIXED),
    ACCURATE: ("--preset=accurate", "--set=features.words.tokens=whitespace"),
}
"""Options of `streamlin run` on the tokens that all tools get."""

STREAMLIN_RAW = {ACCURATE: ("--preset=accurate",)}
"""Options on the original texts, with the case, punctuation and characters that the tokens lack."""

INSTEAD_OF_ALL_VW = (ALL, f"{ALL}, bigrams", ALL_MIXED, f"{ALL_MIXED}, bigrams", ACCURATE)
"""Configurations whose single run does what takes VW one run for each of its configurations."""

ALL_MEMBERS = "all members"
"""The preset as it is, beside those without one of its members; made in `peer_members.py`."""

GRID = ("logistic_regression", ALL)
"""Configurations whose cost is measured over labels, words and bits."""


def chosen(quick: bool) -> dict[str, tuple[str, ...]]:
    """All of STREAMLIN, or few of them."""
    return {name: STREAMLIN[name] for name in (*GRID, ACCURATE)} if quick else STREAMLIN


VW_BITS, VW_MANY_BITS = 18, 24
"""Its default, on which its speed is compared. What is right is shown with many too: labels share its one table."""
VW = {
    "default": "",
    "logistic": "--loss_function logistic",
    "hinge": "--loss_function hinge",
    "logistic, bigrams": "--loss_function logistic --ngram 2",
    "default, bigrams": "--ngram 2",
}
"""Options of `vw` beside --oaa."""
VW_LOGISTIC, VW_BINARY = "logistic", "logistic, --binary"

RIVER = {
    "naive_bayes": "MultinomialNB",
    "perceptron": "Perceptron",
    "passive_aggressive": "PAClassifier(C=0.1)",
    "logistic_regression": "LogisticRegression(AdaGrad(0.1))",
    "sgd": "LogisticRegression()",
}
"""Learner of streamlin -> the same algorithm in river; made in `peer_river.py`."""

TEXTS, MAPPINGS = "texts", "mappings"
"""What a library gets when it is called event by event."""


def named(name: str, given: str) -> str:
    """The name of a configuration that gets texts or mappings."""
    return name if given == TEXTS else f"{name}, {given}"


SCIKIT_LEARN = ("log_loss", "perceptron", "passive_aggressive")
"""Made in `peer_scikit_learn.py`."""
