"""What `make generated` writes: stubs and parts of the pages."""

import pytest

from generator.blocks import block, filled, table
from generator.docstrings import entries, introduction
from generator.files import ROOT, stale
from generator.keys import with_values


class Documented:
    """A learner of x::

        s = |x|

            + 1

    It has one formula.

    Parameters
    ----------
    eta : the step; smaller
        for noisy labels.
    l2 : none.

    Raises
    ------
    ConfigError : never.
    """


def test_generated_files_are_up_to_date() -> None:
    """The stubs, and the generated parts of the pages."""
    assert not [str(path.relative_to(ROOT)) for path in stale()], "run `make generated`"


def test_entries_are_lines_without_a_full_stop() -> None:
    """They are those of one list."""
    assert entries(Documented, "Parameters", ["eta"]) == {"eta": "the step; smaller for noisy labels", "l2": "none"}
    assert entries(Documented, "Attributes", []) == {}


def test_a_missing_entry_is_an_error() -> None:
    """It names the class, the list and what is missing."""
    with pytest.raises(LookupError, match=r"^the docstring of Documented lacks r under Parameters$"):
        entries(Documented, "Parameters", ["eta", "r"])


def test_the_introduction_has_its_formulas_fenced() -> None:
    """It ends before the parameters."""
    formula = "```\ns = |x|\n\n    + 1\n```"
    assert introduction(Documented) == f"A learner of x:\n\n{formula}\n\nIt has one formula."


def test_blocks_are_filled_and_the_rest_is_kept() -> None:
    """What stands in the block is replaced."""
    page = f"# A\n\n{block('b', 'old')}\n\nC\n"
    assert filled(page, {"b": "new"}) == f"# A\n\n{block('b', 'new')}\n\nC\n"


@pytest.mark.parametrize("contents", [{}, {"b": "", "c": ""}])
def test_a_page_with_other_blocks_is_refused(contents: dict[str, str]) -> None:
    """A block too many, or one too few."""
    with pytest.raises(LookupError, match=r"generated blocks are \['b'\], expected \["):
        filled(block("b", "text"), contents)


def test_bars_in_cells_are_escaped() -> None:
    """An unescaped bar would end the cell."""
    assert table(["a", "b"], [["|x|", ""]]) == "| a | b |\n|---|---|\n| \\|x\\| | |"


def test_values_of_keys_are_written_and_their_meaning_is_kept() -> None:
    """Rows of anything else stay as they are."""
    rows = "| `features.bits` | ? | ? | n-grams |\n| `unknown.key` | ? | ? | text |\n"
    expected = "| `features.bits` | whole number ≥ 1, ≤ 31 | `20` | n-grams |\n| `unknown.key` | ? | ? | text |\n"
    assert with_values(rows) == expected
