"""The built-in parsers by kind, and new parsers as configured."""

from streamlin.config import ParserConfig
from streamlin.parsing.pcfg import PCFG

KINDS = {PCFG.name: PCFG}
"""Kind, as a configuration names it -> class."""


def from_config(config: ParserConfig, most_rules: int) -> PCFG:
    """A new parser as configured, with so many rules at most."""
    parser = KINDS[config.kind](**config.parameters())
    parser.bound(most_rules)
    return parser
