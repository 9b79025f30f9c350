"""From an error to a line for people and an exit code."""

from streamlin.errors import StreamlinError
from streamlin.terminal.printing import is_read, print_news


def exit_code(error: Exception) -> int:
    """Show an error that has a line for people, and give its exit code; raise what is a mistake of ours again."""
    if isinstance(error, StreamlinError):
        if not isinstance(error.__cause__, BrokenPipeError) or is_read(1):
            _show_error(str(error))
        return error.exit_code
    # Typer's own errors of usage; by name, since it brings its own copy of click or not as its version likes.
    if hasattr(error, "format_message"):
        _show_error(error.format_message())
        return 2
    raise error


def _show_error(text: str) -> None:
    print_news(" ".join(line.strip() for line in text.splitlines()), "error")
