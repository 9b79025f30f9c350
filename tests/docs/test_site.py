"""The site builds without warnings, its links are valid, and it loads nothing from other hosts."""

import functools
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.docs.pages import DOCS, ROOT
from tests.docs.site import Built


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Built]:
    return {path: Built(path) for path in site.rglob("*.html")}


def test_every_markdown_file_is_a_page_of_the_navigation(site: Path, pages: dict[Path, Built]) -> None:
    """Each file has an HTML page."""
    expected = {site / path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    assert expected <= set(pages)
    index = pages[site / "index.html"]
    assert expected <= {(site / link).resolve() for link in index.links if not urlsplit(link).netloc} | {index.path}


def test_links_of_the_site_lead_somewhere(site: Path, pages: dict[Path, Built]) -> None:
    """Links within the site lead to existing pages and anchors."""
    checked = 0
    for page in pages.values():
        if page.path.name == "404.html":  # its links begin at the root of a server
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
            assert target.exists(), f"{page.path.relative_to(site)}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, f"{page.path.relative_to(site)}: {link}"
            checked += 1
    assert checked > 500


def test_the_reference_renders_lists_of_docstrings(pages: dict[Path, Built]) -> None:
    """Lists of parameters and of fields in our style of docstrings become lists."""
    (events,) = (page for page in pages.values() if str(page.path).endswith("reference/events.html"))
    assert re.search(r"<li>\s*(<p>)?<code>lost</code>: how many records", events.text)
    (learners,) = (page for page in pages.values() if str(page.path).endswith("reference/learners.html"))
    text = re.sub(r"<[^>]+>|\s+", " ", learners.text)
    assert re.search(
        r"smoothing\s+\( .{0,80}default: .{0,40}\) – .{0,8}uniform.{0,8} adds alpha", re.sub(r"\s+", " ", text)
    )
    assert "::" not in text
    assert "-----" not in text


def test_pages_load_nothing_from_other_hosts(site: Path, pages: dict[Path, Built]) -> None:
    """Neither the pages nor their style sheets do."""
    for page in pages.values():
        assert not [url for url in page.loaded if urlsplit(url).netloc], page.path
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not [url for url in re.findall(r"url\(\s*[\"']?([^\"')]+)", text) if re.match(r"(https?:)?//", url)], (
            sheet
        )
        assert "@import" not in text, sheet


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The address at which the site is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_browser_requests_nothing_from_other_hosts(browser: Browser, address: str) -> None:
    """Neither while pages are read nor while they are searched."""
    page = browser.new_page()
    page.set_default_timeout(180_000)  # the machine may be busy
    asked, complaints = set[str](), list[str]()
    page.on("request", lambda request: asked.add(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for name in ("index", "learners", "configuration", "tutorials/kafka", "reference/pipeline"):
        page.goto(f"{address}/{name}.html")
    page.locator("[data-md-component=search-query]").fill("passive-aggressive")
    found = page.locator(".md-search-result__item", has_text=re.compile("passive-aggressive", re.IGNORECASE))
    expect(found.first).to_be_attached(timeout=180_000)  # the index is large, and the machine may be busy
    page.close()
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(address).netloc}
    assert not complaints
