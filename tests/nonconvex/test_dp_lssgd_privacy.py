"""DP-LSSGD's budgets: TensorFlow Privacy's accountant against dp-accounting's, and what the checks make of them."""

from __future__ import annotations

import math
from dataclasses import replace

import dp_accounting
import pytest
from dp_accounting import rdp
from scipy import optimize
from sympy import Eq

from dpcheck.bounds.language.claim import Claim, Effort, Verdict
from dpcheck.bounds.library.nonconvex import dp_lssgd_privacy as theory

ORDERS = [*range(5, 64), 128, 256, 512]


@pytest.mark.parametrize(
    ("noise", "rate", "steps"), [(16.3, 128 / 50_000, 19_531), (2.0, 256 / 50_000, 9766), (1.0, 0.1, 5)]
)
def test_the_accountant_of_2019_in_closed_form(noise: float, rate: float, steps: int) -> None:
    """The same divergences as dp-accounting's, converted by Lemma 5.5.5 and not by its sharper rule."""
    accountant = rdp.RdpAccountant(ORDERS)
    accountant.compose(dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise)), steps)
    found = theory.tensorflow_privacy(noise, rate, steps, 1e-5)
    converted = min(r + math.log(1e5) / (a - 1) for a, r in zip(ORDERS, accountant._rdp, strict=True))
    assert found == pytest.approx(converted, rel=1e-6)
    assert found >= accountant.get_epsilon(1e-5)


@pytest.mark.parametrize("claim", [theory.consistent, theory.consistent_v0], ids=lambda c: c.id)
def test_the_budgets_of_theorem_and_accountant_differ(claim: Claim) -> None:
    """The same check supports the claim for the share of the noise that the accountant takes for ε = 0.3."""
    (check,) = claim.checks
    assert isinstance(check, theory.SameBudget)
    assert check.run(claim, Effort()).verdict is Verdict.REFUTED
    here, rate = theory.SETTINGS, theory.BATCH / theory.RECORDS
    stated = float(check.of.formula.subs({s: here[str(s)] for s in check.of.formula.free_symbols})) * theory.BATCH
    share = optimize.brentq(
        lambda part: theory.tensorflow_privacy(part * stated, rate, theory.STEPS, 1e-5) - 0.3, 0.02, 1.0
    )
    assert share < 0.6
    right = replace(check.of, states=Eq(theory.nu, share * check.of.formula))
    assert replace(check, of=right).run(claim, Effort()).verdict is Verdict.SUPPORTED
