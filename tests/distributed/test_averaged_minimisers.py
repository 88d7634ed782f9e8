"""What unlike parties cost, and the bias that averages keep: counterexamples as the claims have them, run."""

from __future__ import annotations

import numpy as np
import pytest

import dpcheck as dp
from dpcheck.bounds.library.distributed import averaged_minimisers as theory
from dpcheck.problems.losses import Huber
from dpcheck.problems.parties import Parties


def unlike(count: int, each: int, lam: float) -> Parties:
    """The counterexample to Theorem 6.5.3: one party pulls with G = 1 all the way, the others sit at 0."""
    far = 1 / lam + 1.0
    y = np.r_[np.full(each, far), np.zeros((count - 1) * each)]
    return Parties(np.ones((len(y), 1)), y, Huber(1.0), l2=lam, label_bound=far, sizes=(each,) * count)


@pytest.mark.parametrize(("count", "each"), [(2, 1), (2, 50), (5, 50)])
def test_unlike_parties_are_as_far_off_as_the_claim_computes_whatever_they_hold(count: int, each: int) -> None:
    data = unlike(count, each, lam=0.5)
    gap = float(abs(data.minimisers().mean() - data.minimiser()[0][0]))
    here = {"parties": count, "G": 1.0, "L_smooth": 1.0, "lam_parties": 0.5}
    exact = float(theory.lone_pull.subs({s: here[str(s)] for s in theory.lone_pull.free_symbols}))
    stated = theory.theorem5_3.evaluate(n_least=each, **here)
    assert gap == pytest.approx(exact, rel=1e-6)
    assert gap <= theory.theorem5_3_corrected.evaluate(**here)
    assert (gap > stated) == (each > 10)  # printed, it falls with the records


def test_averages_of_like_parties_keep_the_bias_of_one() -> None:
    """The counterexample to Theorem 6.3.3, i.i.d. y of 1/4 and -3/4: local minimisers, by their closed form."""
    each, c = 40, 0.25
    share = np.arange(each + 1) / each  # of records at 1/4
    closed = np.where(share > 0.5, (2 * share - 1) * c / (share + 1), (2 * share - 1) * c)
    for k in (0, 7, 20, 33, 40):
        y = np.r_[np.full(k, c), np.full(each - k, -3 * c)]
        found = dp.Problem(np.ones((each, 1)), y, Huber(c), l2=1.0).minimiser()[0][0]
        assert found == pytest.approx(closed[k], abs=1e-7)
    chances = np.exp([np.sum(np.log(np.arange(k + 1, each + 1))) - np.sum(np.log(np.arange(1, each - k + 1)))
                      for k in range(each + 1)]) / 2.0**each  # fmt: skip
    bias = float(chances @ closed)
    assert bias <= -c / (6 * np.sqrt(2 * each)) < 0
    assert bias**2 / 2 >= c**2 / (144 * each)
