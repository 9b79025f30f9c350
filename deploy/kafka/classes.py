"""Java's archive of the classes that a broker loads: with it one starts in about half the time.

https://docs.oracle.com/en/java/javase/17/vm/class-data-sharing.html
"""

import tempfile
from pathlib import Path

from deploy.kafka.broker import Broker
from deploy.kafka.library import LIBRARIES, class_archive
from deploy.kafka.locking import exclusive


def keep_classes() -> None:
    """Make the archive, wholly or not at all, if it is missing: a broker writes it as it stops."""
    archive = class_archive()
    with exclusive(LIBRARIES):
        if not archive.exists():
            with tempfile.TemporaryDirectory(prefix="classes-", dir=LIBRARIES) as folder:
                unfinished = Path(folder) / archive.name
                broker = Broker(Path(folder) / "broker", classes=unfinished)
                broker.start()
                broker.stop()
                unfinished.rename(archive)
