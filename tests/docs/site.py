"""A page of the built site as tests see it."""

from html.parser import HTMLParser
from pathlib import Path

_LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
_LOADING_RELATIONS = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload"}


class Built(HTMLParser):
    """links : targets of its links. loaded : URLs that a browser loads to show it. anchors : its ids."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path.resolve()
        self.text = path.read_text(encoding="utf-8")
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in _LOADING and _LOADING[tag] in given:
            self.loaded.append(given[_LOADING[tag]])
        if tag == "link" and _LOADING_RELATIONS & set(given.get("rel", "").split()):
            self.loaded.append(given["href"])
