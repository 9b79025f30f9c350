"""The lines below the table of metrics: what the numbers mean, and what went wrong."""

from collections.abc import Mapping
from typing import Any

from streamlin.asking.asking import TOO_FEW
from streamlin.config import BASELINES
from streamlin.evaluation.mcnemar import SIGNIFICANT
from streamlin.evaluation.prequential import UNVERIFIED
from streamlin.terminal.cells import percent, printable

_KINDS = 3
"""Kinds of dead letters that are shown."""


def remarks(report: Mapping[str, Any]) -> list[str]:
    """Whether anything is known of them, the leader's lead is more than luck, what failed, and who abstained."""
    first = (*unverified(report), *_retired(report), _lead(report), _fall(report), *about_texts(report))
    lines = (*first, _silent(report), _too_long(report), _delays(report), _misfits(report), *_asking(report))
    return [line for line in lines if line]


def about_texts(report: Mapping[str, Any]) -> list[str]:
    """What is measured without any label."""
    return [line for line in (_new_words(report), _surprise(report)) if line]


def unverified(report: Mapping[str, Any]) -> list[str]:
    """That predictions rest on words set by hand alone, if so."""
    return [UNVERIFIED] if report.get("unverified") else []


def about_reading(report: Mapping[str, Any]) -> list[str]:
    """Why records are dead letters, the commonest kinds; and the named fields that no event has."""
    kinds = report.get("dead_letters_by_kind", {})
    said = [f"{count:,} {printable(kind)}" for kind, count in list(kinds.items())[:_KINDS]]
    more = f", {len(kinds) - _KINDS:,} more kinds in the report" if len(kinds) > _KINDS else ""
    lines = [f"dead letters: {', '.join(said)}{more}"] if said else []
    missing = report.get("missing_fields", [])
    return [*lines, f"no event has {printable(', '.join(missing))}; is the name right?"] if missing else lines


def _retired(report: Mapping[str, Any]) -> list[str]:
    """The external models that failed."""
    rows = [(name, row["retired"]) for name, row in report["learners"].items() if "retired" in row]
    return [f"{name} is retired, it failed at {why['position']}: {printable(why['error'])}" for name, why in rows]


def _silent(report: Mapping[str, Any]) -> str | None:
    """The predictors that abstained more than once; none can predict the first label."""
    learners = {name: row["abstained"] for name, row in report["learners"].items()}
    if len(learners) > 1 and len(set(learners.values())) == 1:  # before the first label arrived
        learners = {"each learner": next(iter(learners.values()))}
    others = {name: row["abstained"] for name, row in report["baselines"].items() if name not in BASELINES}
    said = [f"{name} {times:,} times" for name, times in (learners | others).items() if times > 1]
    return f"no prediction, counted as wrong: {', '.join(said)}" if said else None


def _too_long(report: Mapping[str, Any]) -> str | None:
    """The sentences that parsers only learned."""
    count = report.get("too_long", 0)
    return f"{count:,} sentences were too long (max_tokens): learned, not parsed" if count else None


def _delays(report: Mapping[str, Any]) -> str | None:
    """How much later labels came than their texts; None where no label came later."""
    delays = report.get("delayed_labels", {})
    delay = delays.get("delay_events")
    if delay is None:
        return None
    return (
        f"{delays['joined']:,} labels came later, behind {delay['median']:,} other texts (median), "
        f"{delay['p95']:,} (95 %)"
    )


def _asking(report: Mapping[str, Any]) -> list[str]:
    """How many labels were asked for, what metrics make of it, and whether these are rough."""
    asking = report.get("asking")
    if asking is None:
        return []
    counts = f"{asking['asked']:,} of {asking['events']:,} labels were asked for, {asking['answered']:,} answered"
    meaning = "metrics are weighted by 1/probability of asking, so that they stand for all events"
    return [f"{counts}; {meaning}", *([TOO_FEW] if asking.get("rough") else [])]


def _misfits(report: Mapping[str, Any]) -> str | None:
    """How many late tags were left out; None where all fitted their sentence."""
    count = report.get("delayed_labels", {}).get("wrong_length")
    return f"left out, late tags of another length than their sentence: {count:,} times" if count else None


def _lead(report: Mapping[str, Any]) -> str | None:
    """McNemar's test of the leader against the other learners; None where there is no other learner."""
    leader = report.get("leader")
    if leader is None or len(report["learners"]) == 1:
        return None
    others = {name: row["leader_p"] for name, row in report["learners"].items() if name != leader}
    undecided = [f"{name} ({_p(p)})" for name, p in others.items() if p >= SIGNIFICANT]
    if undecided:
        return f"{leader}: no difference shown to {', '.join(undecided)}"
    whom = next(iter(others)) if len(others) == 1 else "all other learners"
    return f"{leader} is ahead of {whom} ({_p(max(others.values()))})"


def _fall(report: Mapping[str, Any]) -> str | None:
    """How often what is watched fell, and when it last did."""
    drift = report.get("drift")
    if drift is None or not drift["falls"]:
        return None
    line = f"drift: {drift['of']} fell {drift['falls']:,} " + ("time" if drift["falls"] == 1 else "times")
    falls = [alarm for alarm in drift["last_alarms"] if alarm["after"] < alarm["before"]]
    if not falls:
        return line
    last, shares = falls[-1], [percent(falls[-1][key]) for key in ("before", "after")]
    return f"{line}, last at event {last['labelled']:,}: {last['learner']} {' to '.join(shares)}"


def _new_words(report: Mapping[str, Any]) -> str | None:
    """How often the share of new words rose, and when it last did."""
    novelty = report.get("novelty")
    if novelty is None or not novelty["alarms"]:
        return None
    times, last = novelty["alarms"], novelty["last_alarms"][-1]
    shares = " to ".join(percent(last[key]) for key in ("before", "after"))
    return f"new words: {times:,} {'alarm' if times == 1 else 'alarms'}, last at event {last['event']:,}: {shares}"


def _surprise(report: Mapping[str, Any]) -> str | None:
    """The bits of a token, and its perplexity."""
    surprise = report.get("surprise")
    if surprise is None or surprise["bits"] is None:
        return None
    since, late = ((surprise[f"{span}bits"], surprise[f"{span}perplexity"]) for span in ("", "window_"))
    texts = [f"{bits:.2f} bits a token (perplexity {perplexity:,.1f})" for bits, perplexity in (since, late)]
    return f"surprise: {texts[0]}; of the last events {texts[1]}"


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
