"""Peak resident memory of runs."""

from pathlib import Path

from benchmarks.processes import log, streamlin, write_synthetic
from benchmarks.tables import table
from tests.locations import DATA


def measure(folder: Path, repeat: int) -> dict[str, dict[str, int]]:
    """Run -> bytes of its input and peak bytes. Both files repeat the same lines, so they have one vocabulary."""
    found: dict[str, dict[str, int]] = {}
    clinc = DATA / "clinc150.jsonl.gz"
    if clinc.is_file():
        found["clinc150, 151 labels, all five learners"] = _peak(clinc)
    lines, path = folder / "lines.jsonl", folder / "input.jsonl"
    write_synthetic(lines, events=20_000, vocabulary=1000, labels=4)
    for size in (10_000_000, 1_000_000_000):
        _repeat_lines(lines, path, size)
        found[f"{size // 1_000_000:,} MB of JSON lines, naive Bayes"] = _peak(path, "--learner", "naive_bayes")
    return found


def text(figures: dict[str, dict[str, int]]) -> str:
    """One row per run."""
    rows = [[name, f"{row['input'] / 1e6:,.1f}", f"{row['peak'] / 1e6:,.0f}"] for name, row in figures.items()]
    return table(["run", "input MB", "peak resident MB"], rows)


def _peak(path: Path, *options: str) -> dict[str, int]:
    log(f"memory: {path.name}, {path.stat().st_size:,} bytes")
    finished = streamlin("run", str(path), "--predictions", "null://", *options)
    return {"input": path.stat().st_size, "peak": finished.peak_bytes}


def _repeat_lines(source: Path, target: Path, size: int) -> None:
    """Write about `size` bytes of whole lines of `source`."""
    data = source.read_bytes()
    whole, rest = divmod(size, len(data))
    with target.open("wb") as file:
        for _ in range(whole):
            file.write(data)
        file.write(data[: data.rfind(b"\n", 0, rest) + 1])
