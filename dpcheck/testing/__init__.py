"""Privacy in a test suite: `assert_private`, `@private`, the pytest plugin; and `check_solver` for solvers."""

from __future__ import annotations

import importlib
from typing import Any

NAMES = dict.fromkeys(("PrivacyViolation", "Unhealthy", "assert_private", "private"), "assertions")
NAMES |= dict.fromkeys(("Conformance", "NotConforming", "check_solver"), "conformance")

NAMES |= dict.fromkeys(("CheckedTraining", "check_training"), "training_loop")


def __getattr__(name: str) -> Any:
    """On first use: the plugin is loaded in every test run and must cost next to nothing."""
    if name in NAMES:
        return getattr(importlib.import_module(f"dpcheck.testing.{NAMES[name]}"), name)
    raise AttributeError(f"module 'dpcheck.testing' has no attribute {name!r}")
