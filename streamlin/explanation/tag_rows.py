"""The rows of the tables that explain a sentence's tags, for the terminal and for HTML."""

from typing import TYPE_CHECKING

from streamlin.explanation.decomposition import centred
from streamlin.explanation.printable import printable
from streamlin.explanation.table_rows import TableRows

if TYPE_CHECKING:
    from streamlin.explanation.tag_reasons import TagReasons, TokenReasons

MOST_TAGS = 5
"""The number of tags of each token that are shown, those with the best scores."""


def tagger_title(reasons: "TagReasons") -> str:
    """The tagger, and its prediction for the sentence."""
    name = printable(reasons.learner, 60)
    if reasons.parts is None:
        return f"{name}: no tag is known yet"
    tags = " ".join(printable(str(tag), 24) for tag in reasons.predicted)
    confidence = "" if reasons.confidence is None else f", confidence {reasons.confidence:.6g}"
    return f"{name}: {printable(tags, 200)}{confidence}"


def token_rows(reasons: "TokenReasons", top: int) -> TableRows:
    """The rows of a token's table. The mean over tags is subtracted, so what speaks for a tag is above 0."""
    codes = reasons.ranked[:MOST_TAGS]
    heaviest, others, left = reasons.heaviest(top)
    rest = [(f"{left:,} more", others)] if left else []
    rest += [(printable(name, 60), added) for name, added in reasons.beside.items()]
    rest += [("score", reasons.scores)]
    return TableRows(
        token_title(reasons),
        [printable(reasons.labels[code], 24) for code in codes],
        [(printable(name, 60), centred(added)[codes]) for name, added in heaviest],
        [(name, centred(numbers)[codes]) for name, numbers in rest],
        _remark(reasons),
        "feature",
    )


def token_title(reasons: "TokenReasons") -> str:
    """The token, its tag, and by how much its score is above that of the next one."""
    title = f"{printable(reasons.text, 60)}: {printable(str(reasons.predicted), 24)}"
    if len(reasons.ranked) < 2:
        return title
    best, second = reasons.ranked[:2]
    margin = reasons.scores[best] - reasons.scores[second]
    way = "above" if margin >= 0 else "below"
    return f"{title}, {abs(margin):.3f} {way} {printable(reasons.labels[second], 24)}"


def _remark(reasons: "TokenReasons", most: int = 5) -> str:
    unseen = reasons.unseen
    if not unseen:
        return ""
    examples = ", ".join([printable(name, 40) for name in unseen[:most]] + ["…"] * (len(unseen) > most))
    return f"Not known: {len(unseen):,} of {len(reasons.names):,} features: {examples}"
