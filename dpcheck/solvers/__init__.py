"""The algorithms, one file each, in the folders of their themes. `dpcheck.solvers.NAME` finds any of them."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from dpcheck.solvers.finding import class_named, solvers  # late: who asks for nothing imports nothing

    if name.startswith("__"):
        raise AttributeError(name)
    found = class_named(name)
    if found is None:
        names = sorted(solver.__name__ for solver in solvers().values())
        raise AttributeError(f"no solver {name!r}; there are {', '.join(names)}")
    return found
