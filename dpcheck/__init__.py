"""dpcheck: what a theorem on private learning says, what the code does, what an attacker sees.

This is the public face. Names come from `dpcheck.public` on first use, so that `import dpcheck` costs nothing.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from dpcheck.bounds.language.on_record import answered_by

if TYPE_CHECKING:
    from dpcheck import adapters as adapters
    from dpcheck import datasets as datasets
    from dpcheck import estimators as estimators
    from dpcheck import local as local
    from dpcheck import solvers as solvers
    from dpcheck import strategies as strategies
    from dpcheck.public import *  # noqa: F403

__version__ = "0.1.0"

ROOMS = ("adapters", "local", "solvers", "strategies")


def __getattr__(name: str) -> Any:
    """`dpcheck.audit`, `dpcheck.solvers.OutputPerturbationGD`, ...: found on first use."""
    if name == "__all__":
        return sorted([*_public().__all__, *ROOMS])
    if not name.startswith("__"):
        if importlib.util.find_spec(f"dpcheck.{name}") is not None:
            return importlib.import_module(f"dpcheck.{name}")
        if name in _public().__all__:
            value = globals()[name] = getattr(_public(), name)
            return value
    raise AttributeError(f"module 'dpcheck' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_public().__all__, *ROOMS, "datasets", "estimators"})


def _public() -> Any:
    return importlib.import_module("dpcheck.public")


def _recorded_of(claim_id: str) -> Any:
    from dpcheck.verdicts.record import recorded_of  # on first use, as all else

    return recorded_of(claim_id)


answered_by(_recorded_of)
