"""How the configuration of a checkpoint differs from that of a run."""

import json
from collections.abc import Mapping
from typing import Any, TypeGuard


def differing(fingerprint: Mapping[str, Any], other: Mapping[str, Any], prefix: str = "") -> str | None:
    """The first dotted key at which two configurations differ, with both values; None if they are equal."""
    for key in sorted({*fingerprint, *other}, key=_order):
        ours, theirs = fingerprint.get(key), other.get(key)
        if ours == theirs:
            continue
        if key == "learners" and _are_learners(ours) and _are_learners(theirs):
            ours, theirs = ({learner["name"]: learner for learner in learners} for learners in (ours, theirs))
            if list(ours) != list(theirs):
                return f"learners: {', '.join(theirs)} in the checkpoint, {', '.join(ours)} now"
        if isinstance(ours, dict) and isinstance(theirs, dict):
            deeper = differing(ours, theirs, f"{prefix}{key}.")
            if deeper is None:
                continue
            return deeper
        return f"{prefix}{key}: {json.dumps(theirs)} in the checkpoint, {json.dumps(ours)} now"
    return None


def _are_learners(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    return isinstance(value, list) and all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in value)


def _order(key: str) -> tuple[bool, str]:
    """The task first: it brings defaults of its own."""
    return key != "task", key
