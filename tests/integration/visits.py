"""A page in a real browser."""

from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.integration.processes import PATIENCE, until

expect.set_options(timeout=1000 * PATIENCE)


class Visit:
    """An open page, with the complaints of the browser and the hosts that it requests from."""

    def __init__(self, browser: Browser, url: str, **how: Any) -> None:
        self.page: Page = browser.new_page(**how)
        self.page.set_default_timeout(1000 * PATIENCE)
        self.complaints: list[str] = []
        self._ends = False
        self.hosts: set[str] = set()
        self.page.on("console", self._told)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        self.page.goto(url)

    def state(self, text: str) -> None:
        """Wait until the page shows this state, such as that it is live."""
        self._ends = text == "the run has ended"
        expect(self.page.locator("#state")).to_have_text(text)

    def has_seen(self, events: int) -> None:
        """Wait until the page shows at least this number of events."""
        count = self.page.locator("#counts dd").first
        until(lambda: int((count.text_content() or "0").replace(",", "")) >= events or self.page.wait_for_timeout(100))

    def table(self, selector: str) -> list[list[str]]:
        """The cells of a table, its head included."""
        rows: list[list[str]] = self.page.locator(f"{selector} tr").evaluate_all(
            "rows => rows.map(row => [...row.children].map(cell => cell.textContent.trim()))"
        )
        return rows

    def counts(self) -> dict[str, str]:
        """The counts at the top, by title."""
        pairs: list[tuple[str, str]] = self.page.locator("#counts div").evaluate_all(
            "all => all.map(one => [...one.children].map(part => part.textContent))"
        )
        return dict(pairs)

    def wide(self) -> int:
        """The width of the page's content in pixels."""
        width: int = self.page.evaluate("document.documentElement.scrollWidth")
        return width

    def _told(self, message: ConsoleMessage) -> None:
        goes_on_trying = self._ends and "net::ERR_CONNECTION_REFUSED" in message.text  # until there is a run again
        if message.type in ("error", "warning") and not goes_on_trying:
            self.complaints.append(message.text)
