"""The files that are generated, whole or in part."""

from pathlib import Path

from generator import arrays, learners, metrics, stubs
from generator.blocks import filled
from generator.keys import with_values

ROOT = Path(__file__).resolve().parents[1]
_DOCS = ROOT / "docs"


def stale() -> dict[Path, str]:
    """The files that are not as they should be, and their text as it should be."""
    return {path: text for path, text in _files().items() if path.read_text(encoding="utf-8") != text}


def _files() -> dict[Path, str]:
    """Each file with its text; a page keeps what is outside its generated blocks."""
    found = {ROOT / "streamlin" / library / "__init__.pyi": stubs.stub(library) for library in stubs.LIBRARIES}
    found[_DOCS / "learners.md"] = filled(learners.with_sections(_page("learners.md")), learners.parameter_tables())
    found[_DOCS / "configuration.md"] = filled(with_values(_page("configuration.md")), learners.key_table())
    blocks = {
        "reference/learners.md": learners.reference(),
        "architecture.md": arrays.listed(),
        "watching.md": metrics.exported(),
    }
    return found | {_DOCS / name: filled(_page(name), contents) for name, contents in blocks.items()}


def _page(name: str) -> str:
    return (_DOCS / name).read_text(encoding="utf-8")
