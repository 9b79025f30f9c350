"""The report of a run as one self-contained HTML file: the dashboard's page with the last figures."""

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from streamlin.monitoring.dashboard.contents import contents
from streamlin.monitoring.dashboard.static import content
from streamlin.monitoring.dashboard.texts import LONG, shortened


def html_report(report: Mapping[str, Any], window: int, source: str) -> str:
    """The text of the file. Labels in it are untrusted, so its policy lets browsers run only the page's own scripts.

    window : labelled events in the windowed metrics.
    source : the address that was read, without secrets.
    """
    shown = contents(report, window) | {"done": True, "source": shortened(source, LONG)}
    if "curve" in shown:
        shown["curve"] = {"begin": 0, **shown["curve"]}
    styles, scripts = (
        [content(name) for name in names] for names in (("uPlot.css", "page.css"), ("uPlot.js", "page.js"))
    )
    policy = f"default-src 'none'; img-src data:; style-src {_hashes(styles)}; script-src {_hashes(scripts)}"
    page = content("index.html")
    for name, style in zip(("uPlot.css", "page.css"), styles, strict=True):
        page = page.replace(f'<link rel="stylesheet" href="{name}">', f"<style>{style}</style>")
    for name, script in zip(("uPlot.js", "page.js"), scripts, strict=True):
        page = page.replace(f'<script src="{name}"></script>', f"<script>{script}</script>")
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    page = page.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n{meta}', 1)
    return page.replace("</main>", f'</main>\n<script id="data" type="application/json">{_data(shown)}</script>', 1)


def _data(shown: Mapping[str, Any]) -> str:
    """JSON that cannot close its HTML element, whatever texts are in it."""
    return json.dumps(shown, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def _hashes(texts: list[str]) -> str:
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
    return " ".join(f"'sha256-{digest}'" for digest in digests)
