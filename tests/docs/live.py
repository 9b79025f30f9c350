"""Blocks that need a broker, and their text for the broker of the tests."""

from tests.docs.pages import Block

ADDRESS = "127.0.0.1:9092"
"""The address of the broker on pages."""
LIVE = {"README.md": "Live from Apache Kafka", "docs/tutorials/kafka.md": None}
"""Page -> the section that needs a broker; None: all of them."""

SERVICE = "docs/service.md"
"""The page whose session needs a port, see tests/service."""


def is_live(block: Block) -> bool:
    """Whether a block needs a broker."""
    return block.page in LIVE and LIVE[block.page] in (None, block.heading)


def at(block: Block, address: str) -> Block:
    """The block with the address of another broker."""
    return block._replace(text=block.text.replace(ADDRESS, address))
