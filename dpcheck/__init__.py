"""dpcheck: what a theorem on private learning says, what the code does, what an attacker sees.

The public names stand in `__init__.pyi`. Each is imported on first use, so that `import dpcheck` costs nothing and an
audit does not pay for the theory.
"""

from __future__ import annotations

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
