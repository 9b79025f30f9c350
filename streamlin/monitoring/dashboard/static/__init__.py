"""The page's files; uPlot, which draws the curves, is L. Sorokin's, version 1.6.32, MIT (see uPlot.LICENSE.txt)."""

from importlib.resources import files

FILES = {
    "index.html": "text/html; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    "uPlot.js": "text/javascript; charset=utf-8",
    "uPlot.css": "text/css; charset=utf-8",
}
"""Name -> type."""
LABEL_FILES = {
    "label.html": "text/html; charset=utf-8",
    "label.js": "text/javascript; charset=utf-8",
    "label.css": "text/css; charset=utf-8",
    "page.css": FILES["page.css"],
}
"""Those of the page on which labels are given."""


def content(name: str) -> str:
    """The text of a file."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
