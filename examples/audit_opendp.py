"""OpenDP: a Laplace sum with the guarantee its own privacy map states, and the same sum sold as twice as private.

Run: python examples/audit_opendp.py (needs the extra `adapters`)
"""

from __future__ import annotations

import numpy as np
import opendp.prelude as odp

import dpcheck as dp
from dpcheck.adapters import opendp

odp.enable_features("contrib")


def noisy_sum() -> opendp.Measured:
    """The sum of numbers in [0, 1], with Laplace noise of scale 1."""
    bounded = odp.vector_domain(odp.atom_domain(bounds=(0.0, 1.0))), odp.symmetric_distance()
    return opendp.measurement(odp.t.make_sum(*bounded) >> odp.m.then_laplace(scale=1.0))


def main(trials: int = 10_000) -> tuple[dp.AuditResult, dp.AuditResult]:
    """The claim as OpenDP states it, and a wrong one."""
    mechanism = noisy_sum()
    near = dp.add_remove(low=0, high=1, n=4)
    stated = mechanism.guarantee(d_in=1)
    wrong = dp.PureDP(0.5, relation=dp.ADD_REMOVE)
    pair = np.array([1.0, 0, 0, 0]), np.zeros(3)  # leave it out, and the audit searches for one
    options = {"pair": pair, "neighbours": near, "max_trials": trials, "alpha": 1e-6}
    return dp.audit(mechanism, guarantee=stated, **options), dp.audit(mechanism, guarantee=wrong, **options)


if __name__ == "__main__":
    for result in main():
        print(result, end="\n\n")
