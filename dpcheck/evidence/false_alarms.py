"""How often a check may call a true claim false, and what is more than rounding."""

from __future__ import annotations

FALSE_ALARM = 1e-6
RATE_ALARM = 1e-3  # of all intervals of a rate check that support; what speaks against has FALSE_ALARM
MORE = 3  # times as many runs again, where all lean the way the claim says and some are not clear


def exceeds(measured: float, bound: float) -> bool:
    """Above the bound by more than rounding."""
    return not measured <= bound * (1 + 1e-9) + 1e-12
