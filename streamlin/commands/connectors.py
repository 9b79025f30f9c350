"""The command `streamlin connectors`."""

import sys

from streamlin.terminal.printing import print_result


def connectors() -> None:
    """List URL schemes and plugin learners with their packages."""
    from streamlin.registry import Kind, schemes

    kinds: tuple[Kind, ...] = ("sources", "sinks", "learners")
    for kind in kinds:
        for name, point in schemes(kind).items():
            provider = point.dist.name if point.dist is not None else "?"
            shown = name if kind == "learners" else f"{name}://"
            print_result(f"{kind[:-1]:<8}{shown + ' ':<16}{point.value} ({provider})", sys.stdout)
