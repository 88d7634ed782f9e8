"""What is claimed: symbols, claims, guarantees, proofs, accountants; `library/` has one file for each algorithm.

The package is also the mapping of all claims: `dpcheck.bounds["zhang17.lemma2"]`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any


class Claims(ModuleType):
    """A package that can be asked for a claim by its id. Nothing is imported until it is."""

    def __getitem__(self, name: str) -> Any:
        return _library()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_library())

    def __len__(self) -> int:
        return len(_library())

    __contains__ = Mapping.__contains__
    get, keys, values, items = Mapping.get, Mapping.keys, Mapping.values, Mapping.items


def _library() -> Mapping[str, Any]:
    from dpcheck.bounds.registry import library  # late: whoever imports a part of the package pays for that part

    return library


Mapping.register(Claims)
sys.modules[__name__].__class__ = Claims
