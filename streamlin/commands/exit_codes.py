"""From an error to a one-line message and an exit code."""

from streamlin.errors import StreamlinError
from streamlin.terminal.printing import has_reader, print_notice


def exit_code(error: Exception) -> int:
    """Show an error that has a one-line message, and return its exit code; raise any other error, a bug, again."""
    if isinstance(error, StreamlinError):
        if not isinstance(error.__cause__, BrokenPipeError) or has_reader(1):
            _show_error(str(error))
        return error.exit_code
    if isinstance(error, MemoryError):
        _show_error("out of memory; fewer labels, learners or features.bits need less, see pipeline.max_table_bytes")
        return 1
    # Typer's usage errors; recognized by this method, since some versions of Typer have their own copy of click.
    if hasattr(error, "format_message"):
        _show_error(error.format_message())
        return 2
    if _is_of_a_library(error):
        _show_error(
            f'a library can\'t be loaded: {str(error).strip()[:300]}; see "What it runs on" in docs/deployment.md'
        )
        return 2
    raise error


def _is_of_a_library(error: Exception) -> bool:
    """Whether a library does not suit this machine, or is not installed; numpy names processors in a RuntimeError."""
    return isinstance(error, ImportError) or (
        isinstance(error, RuntimeError) and "baseline optimizations" in str(error)
    )


def _show_error(text: str) -> None:
    print_notice(" ".join(line.strip() for line in text.splitlines()), "error")
