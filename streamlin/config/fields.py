"""The table `[fields]`."""

from pydantic import field_validator

from streamlin.config.base import Names, Strict


class FieldsConfig(Strict):
    """The names of the input's fields; dotted paths lead into nested JSON.

    tokens, tags : lists of equal length, for the task "tagging"; without tokens, the text is cut into them.
    tree : a tree in brackets, for the task "parsing"; without it, an event needs tokens or a text.
    columns : further lists, each of a value for each token, which are features too.
    """

    text: Names = ("text",)
    label: str = "label"
    tokens: str = "tokens"
    tags: str = "tags"
    tree: str = "tree"
    columns: Names = ()
    id: str = "id"
    weight: str = "weight"
    time: str = "time"
    categories: Names = ()

    @field_validator("text")
    @classmethod
    def _some_text(cls, text: tuple[str, ...]) -> tuple[str, ...]:
        if not text:
            raise ValueError("expected at least one field")
        return text
