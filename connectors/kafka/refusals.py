"""Why a broker lets nobody in: kafka-python tells it to its log alone, and goes on trying."""

import logging
import re

_REFUSAL = re.compile(r"SaslAuthenticationFailedError: (?!Sasl)(?P<sasl>.+)|Handshake failed: (?P<tls>.+)")


class Refusals(logging.Handler):
    """Keeps the last refusal that kafka-python logged. With it in place, Python prints none of its warnings."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.last: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        found = _REFUSAL.search(record.getMessage())
        if found is not None:
            self.last = found["sasl"] or f"TLS: {found['tls']}"
