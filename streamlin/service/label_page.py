"""The page on which a person answers what is asked, with one key for each label."""

from collections.abc import Callable, Coroutine
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from streamlin.monitoring.dashboard.server import HEADERS
from streamlin.monitoring.dashboard.static import LABEL_FILES, content

PAGE = "/label"
PATHS = (PAGE, *(f"{PAGE}/{name}" for name in LABEL_FILES if name != "label.html"))
"""They hold nothing of the stream, so they need no token; the page asks for it."""


def label_page() -> list[Route]:
    """The routes of the page and its files."""
    names = ("label.html", *(name for name in LABEL_FILES if name != "label.html"))
    return [Route(path, _file(name)) for path, name in zip(PATHS, names, strict=True)]


def _file(name: str) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    body = content(name).encode()

    async def answer(request: Request) -> Response:
        return Response(body, headers=HEADERS, media_type=LABEL_FILES[name])

    return answer
