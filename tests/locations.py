"""Where the real streams are."""

from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
