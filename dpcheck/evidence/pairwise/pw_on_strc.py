"""Sequences of outputs, attacked as a whole. Claims: bounds/library/pairwise/pw_on_strc.py, pw_on_c.py, pw_off_*.py."""

from __future__ import annotations

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.families.pairwise import PairSolver
from dpcheck.solver import Calibration
from dpcheck.solvers.pairwise.pw_giga import PairwiseGIGA
from dpcheck.solvers.pairwise.pw_off_c import OffPairC
from dpcheck.solvers.pairwise.pw_off_strc import OffPairStrC
from dpcheck.solvers.pairwise.pw_on_c import OnPairC
from dpcheck.solvers.pairwise.pw_on_strc import OnPairStrC

CLAIMED = ApproxDP(1.0, 1e-3)


def attacked(kind: type[PairSolver], calibration: Calibration, transcript: bool = True) -> AuditCheck:
    """Losses ∓4W in one dimension, n = 18, T₁ = 16; the record right after T₁ has either label."""
    solver = kind.example().solver
    pair = solver.worst_pair()
    mechanism = solver.mechanism(CLAIMED, calibration, transcript=transcript)
    numbers = solver.numbers(pair[0], solver.plan(pair[0], CLAIMED))  # type: ignore[attr-defined]
    what = "the whole sequence" if transcript else "the output"
    because = f"{what}, {'printed' if calibration == 'stated' else 'certified'} noise, on the worst pair"
    return AuditCheck(lambda: (mechanism, pair, CLAIMED), because, trials=30_000, at=numbers)


CHECKS = {
    "dwang20.theorem3.3.1": [attacked(OnPairStrC, "stated")],
    "dwang20.theorem3.3.1.literal": [attacked(PairwiseGIGA, "stated")],
    "dwang20.theorem3.3.3.privacy": [attacked(OnPairC, "stated")],
    "dwang20.theorem3.3.6.privacy": [attacked(OffPairStrC, "stated", transcript=False)],
    "dwang20.theorem3.3.6.convex.privacy": [attacked(OffPairC, "stated", transcript=False)],
}
