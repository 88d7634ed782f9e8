"""Which randomiser, and what is lost against a curator: exact errors, by formulas that runs agree with."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcheck import local
from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.cli.main import main


@given(st.integers(1, 10**7), st.integers(2, 500), st.floats(0.05, 10))
def test_the_best_is_first_and_users_make_up_for_what_is_lost(n: int, d: int, eps: float) -> None:
    for one in local.which(n, d, eps):
        errors = [error for _, error in one.errors]
        assert errors == sorted(errors)
        more = local.which(round(one.users), d, eps)
        same = next(other for other in more if other.question == one.question)
        assert same.error == pytest.approx(one.central, rel=0.6 / math.sqrt(max(one.users, 1)) + 1e-6)


def test_errors_are_those_of_runs() -> None:
    """5000 runs of 50 users who all hold the worst record; a mean square of so many is within 10% but for 1e-6."""
    (numbers, _, items), runs, n = local.which(50, 8, 1.0), 5000, 50
    rng = np.random.default_rng(0)
    for kind, error in ((local.OneBit, dict(numbers.errors)["OneBit(eps=1.0)"]), (local.Laplace, math.sqrt(8 / n))):
        one = kind(1.0)
        means = [one.aggregate(one.privatize(np.zeros(n), rng)) for _ in range(runs)]
        assert np.mean(np.square(means)) == pytest.approx(error**2, rel=0.1)
    best = local.best_frequencies(8, 1.0)
    shares = [best.aggregate(best.privatize(np.zeros(n, int), rng))[1] for _ in range(runs)]
    assert np.mean(np.square(shares)) == pytest.approx(items.error**2, rel=0.1)


def test_a_curator_adds_the_noise_of_the_same_epsilon() -> None:
    """A replaced record moves a mean by 2/n: Laplace noise, and a norm that is Gamma(d) for a vector."""
    rng, n, d, eps = np.random.default_rng(1), 100, 5, 0.5
    number, vector, items = local.which(n, d, eps)
    laplace = rng.laplace(scale=2 / (n * eps), size=200_000)
    assert number.central**2 == pytest.approx(np.mean(laplace**2), rel=0.05)
    assert items.central == number.central
    norms = rng.gamma(d, 2 / (n * eps), size=200_000)
    assert vector.central**2 == pytest.approx(np.mean(norms**2), rel=0.05)


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--local", "--n", "1e6", "--d=64", "--eps", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["best"] for one in found] == [one.best for one in local.which(10**6, 64, 1)]
    assert main(["compare", "--local", "--n", "1e6"]) == 2
    assert "--n, --d and --eps" in capsys.readouterr().err
    assert main(["compare", "dp_gd", "--local", "--n", "1e6", "--d", "4", "--eps", "1"]) == 2


@pytest.mark.parametrize(("n", "d", "eps"), [(0, 4, 1.0), (10, 0, 1.0), (10, 4, 0.0), (10, 4, math.nan), (1.5, 4, 1.0)])
def test_sizes_that_make_no_sense_are_refused(n: float, d: float, eps: float) -> None:
    with pytest.raises(InvalidInput):
        local.which(n, d, eps)
