"""Which blocks need a broker, and how they read at the one that there is."""

from tests.docs.pages import Block

ADDRESS = "127.0.0.1:9092"
"""The broker's, as pages call it."""
LIVE = {"README.md": "Live from Apache Kafka", "docs/tutorials/kafka.md": None}
"""Page -> the section that needs a broker; None: all of them."""

SERVICE = "docs/service.md"
"""The page whose session wants a port, see tests/service."""


def is_live(block: Block) -> bool:
    """Whether a block needs a broker."""
    return block.page in LIVE and LIVE[block.page] in (None, block.heading)


def at(block: Block, address: str) -> Block:
    """The block as it reads with another broker's address."""
    return block._replace(text=block.text.replace(ADDRESS, address))
