"""What runs of MPC Grad P show. Claims: bounds/library/distributed/mpc_grad_p.py."""

from __future__ import annotations

from dpcheck.bounds.language.guarantees import ApproxDP
from dpcheck.evidence.audit_checks import AuditCheck
from dpcheck.solver import Calibration
from dpcheck.solvers.distributed.mpc_grad_p import MPCGradP


def attacked(eps: float, delta: float, calibration: Calibration, because: str) -> AuditCheck:
    """Six steps of two parties of 2 and 3 records, all noisy gradients seen; the noise is known to be Gaussian."""
    guarantee, solver = ApproxDP(eps, delta), MPCGradP(steps=6, step_size=0.5)
    setting = solver.mechanism(guarantee, calibration, transcript=True), solver.worst_pair(), guarantee
    here = {"parties": 2, "n_least": 2, "T": 6, "G": 1.0}
    return AuditCheck(lambda: setting, f"{because}, on its worst pair", trials=20_000, assume="gdp", at=here)


CHECKS = {
    "lwang21.theorem6.3.4": [attacked(12.0, 1e-2, "stated", "noise as printed, at a large ε")],
    "lwang21.theorem6.3.4.corrected": [attacked(1.0, 1e-2, "stated", "noise as printed")],
}
