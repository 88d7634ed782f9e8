"""Performance estimation, in the order of its use; `bounds/performance/worst_case.py` is the face.

methods.py (recursions), program.py (vectors, values, inequalities), sensitivity.py and rate.py (the questions),
interior_point.py and solve.py (the answer), certificate.py (its proof), interpolant.py and instance.py (its witness).
"""

from __future__ import annotations

import lazy_loader

# dpcheck.worst_case is asked of this package, which may not have imported its face yet.
__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules=["worst_case"])
