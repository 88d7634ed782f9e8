"""dpcheck: what a theorem on private learning says, what the code does, what an attacker sees.

The public names stand in `__init__.pyi`. Each is imported on first use, so that `import dpcheck` costs nothing and an
audit does not pay for the theory.
"""

from __future__ import annotations

from typing import Any

import lazy_loader

from dpcheck.bounds.language.on_record import answered_by

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _recorded_of(claim_id: str) -> Any:
    from dpcheck.verdicts.record import recorded_of  # on first use, as all else

    return recorded_of(claim_id)


answered_by(_recorded_of)
