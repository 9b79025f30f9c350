"""Which sources decide whether compiled kernels are up to date."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.locations import ROOT

KERNEL = re.compile(rb"@(late_|inlined_)?kernel\b")
SOURCES = [path for package in ("streamlin", "connectors") for path in sorted((ROOT / package).rglob("*.py"))]


def kernels(tree: ast.Module) -> list[ast.FunctionDef]:
    """Functions decorated by one of the decorators of kernels."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    names = {"kernel", "late_kernel", "inlined_kernel"}
    return [node for node in functions if names & {*map(ast.unparse, node.decorator_list)}]


def source_of(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__init__.py"


def used_by_kernels(path: Path) -> Iterator[tuple[str, Path]]:
    """Names that the kernels of a file use, and the files of ours that these are imported from."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name: source_of(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module
        and node.module.partition(".")[0] in ("streamlin", "connectors")
        for alias in node.names
    }
    for function in kernels(tree):
        for node in (node for statement in function.body for node in ast.walk(statement)):  # without annotations
            if isinstance(node, ast.Name) and node.id in imported and node.id != "kernel":
                yield node.id, imported[node.id]


def test_what_kernels_import_counts_for_their_cache():
    """A constant or named tuple is compiled into kernels, so its file must contain `@kernel` too."""
    used = {(str(path.relative_to(ROOT)), *use) for path in SOURCES for use in used_by_kernels(path)}
    assert len(used) > 20
    assert [use for use in sorted(used) if not KERNEL.search(use[2].read_bytes())] == []
