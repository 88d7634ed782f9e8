"""Privacy in a test suite: `assert_private`, `@private`, and the pytest plugin."""

from __future__ import annotations

from typing import Any

NAMES = ("PrivacyViolation", "Unhealthy", "assert_private", "private")


def __getattr__(name: str) -> Any:
    """On first use: the plugin is loaded in every test run and must cost next to nothing."""
    if name in NAMES:
        from dpcheck.testing import assertions

        return getattr(assertions, name)
    raise AttributeError(f"module 'dpcheck.testing' has no attribute {name!r}")
