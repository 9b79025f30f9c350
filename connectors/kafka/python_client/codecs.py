"""Compressions that kafka-python leaves to packages of their own."""

import kafka.codec

from streamlin.errors import ConfigError

_PACKAGES = {"snappy": "python-snappy", "lz4": "lz4", "zstd": "zstandard"}


def check_compression(name: str) -> None:
    """Raises ConfigError where the package for a sink's compression is missing."""
    if name in _PACKAGES and not getattr(kafka.codec, f"has_{name}")():
        raise ConfigError(f"kafka sink: compression={name}{_needs(name)}")


def unreadable(said: str) -> str:
    """What a message needs that kafka-python can't decompress, from what it says: `Libraries for lz4 …`."""
    name = next((name for name in _PACKAGES if name in said), None)
    return said if name is None else f"messages are compressed with {name}, which{_needs(name)}"


def _needs(name: str) -> str:
    return f" needs the package {_PACKAGES[name]}: pip install {_PACKAGES[name]}"
