"""The algorithms, one file each, in the folders of their themes. `dpcheck.solvers.NAME` finds any of them."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from dpcheck.registry import solvers

    by_class = {cls.__name__: cls for cls in solvers().values()}
    if name in by_class:
        return by_class[name]
    raise AttributeError(f"no solver {name!r}; there are {', '.join(sorted(by_class))}")
