"""The table `[features]`, and the tables of its views, such as `[features.words]`."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from streamlin.config.base import Count, Strict, listed

Mask = Literal["uuid", "ip", "hex", "number"]
Tokens = Literal["words", "scikit-learn", "whitespace", "char_wb", "first", "head", "skip", "shape"]
WITHOUT_NGRAMS: tuple[Tokens, ...] = ("first", "head", "skip", "shape")
"""Their features are no n-grams, see `streamlin.features.forms`."""

WITH_UNLABELLED = "+unlabelled"
"""Ends the name under which a view is kept once more, for learners of texts without a label: with rows of its own, so
that such texts change no other learner."""


class ViewConfig(Strict):
    """One view of the texts: how they become tokens, n-grams and values.

    tokens : what is counted: n-grams of words or of characters, or where pieces between blanks stand (`first`, `head`),
        pairs of them with a gap (`skip`), how they are written (`shape`).
    normalize : "nfkc" drops invisible characters and brings texts to Unicode's form NFKC before all else.
    min_count : features seen less often in labelled events are ignored.
    """

    tokens: Tokens = "words"
    normalize: Literal["nfkc"] | None = None
    lowercase: bool = True
    ngrams: tuple[Count, Count] = (1, 2)
    values: Literal["binary", "counts", "log"] = "binary"
    masks: Annotated[tuple[Mask, ...], BeforeValidator(listed)] = ()
    min_count: Count = 1

    @field_validator("lowercase")
    @classmethod
    def _as_written(cls, lowercase: bool, info: ValidationInfo) -> bool:
        if lowercase and info.data.get("tokens") == "shape":
            raise ValueError("not for tokens = 'shape', which reads the text as it is written")
        return lowercase

    @field_validator("ngrams")
    @classmethod
    def _in_order(cls, ngrams: tuple[int, int], info: ValidationInfo) -> tuple[int, int]:
        if info.data.get("tokens") in WITHOUT_NGRAMS and ngrams != (1, 1):
            raise ValueError(f"not for tokens = '{info.data['tokens']}', whose features are no n-grams")
        if not ngrams[0] <= ngrams[1] <= 32:
            raise ValueError("expected [shortest, longest], at most 32")
        return ngrams

    @model_validator(mode="before")
    @classmethod
    def _defaults_of_tokens(cls, data: Any) -> Any:
        """Features that are no n-grams count one by one; shapes are those of letters as they are written."""
        if not isinstance(data, dict) or data.get("tokens") not in WITHOUT_NGRAMS:
            return data
        return {"ngrams": (1, 1), "lowercase": data["tokens"] != "shape"} | data


TOKEN_BITS = 22
"""The default of `bits` for taggers: a token has 22 features instead of one or two; 2^20 would be shared too often."""
TOPIC_BITS, TOPIC_NAMES = 18, 100_000
"""Those of `bits` and `names` for topics: every text brings its words, and the heaviest ones are shown."""
MAX_ROWS = 10_000_000


class FeaturesConfig(Strict):
    """`bits`, `names`, and a table for each view, such as `[features.words]`.

    bits : features are hashed to 2^bits buckets.
    names : how many n-grams of each view are kept by name, for inspection; does not affect predictions.
    max_rows : of taggers, parsers and topics; once there are so many features, or rules, further ones are ignored.
    """

    bits: Annotated[Count, Field(le=31)] = 20
    max_rows: Count = MAX_ROWS
    names: Annotated[int, Field(strict=True, ge=0)] = 0
    views: dict[str, ViewConfig] = {}

    @field_validator("views")
    @classmethod
    def _not_reserved(cls, views: dict[str, ViewConfig]) -> dict[str, ViewConfig]:
        for name in views:
            if name.endswith(WITH_UNLABELLED):
                raise ValueError(f"the name of a view can't end in '{WITH_UNLABELLED}', got '{name}'")
        return views

    @model_validator(mode="before")
    @classmethod
    def _gather_views(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "views" in data:
            return data
        views = {key: value for key, value in data.items() if isinstance(value, dict) or key == "words"}
        rest = {key: value for key, value in data.items() if key not in views}
        return rest | {"views": {"words": {}} | views}
