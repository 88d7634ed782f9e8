"""Sums of Laplace noise: what every average of locally private reports is off by (dwang20, Lemma 5.1.12)."""

import numpy as np
from scipy import special
from sympy import Le, Lt, exp, log

from dpcheck.bounds.language.claim import Claim, Kind, Setting, Source
from dpcheck.bounds.language.symbols import eps, n, quantity
from dpcheck.bounds.proving.chains import STATEMENT, Chain, Premise, Step
from dpcheck.bounds.proving.exact_values import ExactValue

t_sum = quantity("t_sum", "size that a sum of noise is compared with", box=(1e-2, 1e4), printed="t", latex="t")
tail = quantity(
    "tail",
    "chance that n draws of Laplace noise of scale 1/eps sum to t or more in size",
    box=(1e-300, 1.0),
    printed="Pr(|Σxᵢ| ≥ t)",
    latex=r"\mathrm{Pr}(|\sum x_i|\geq t)",
)


def exact_tail(draws: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The chance that so many draws of Laplace noise of scale 1 sum to `size` or more, one sign or the other.

    The sum is a Gamma variable of shape n - j with weight C(n-1+j, j) 2^-(n+j) on each side: terms of one sign.
    """
    count, t = (np.asarray(a, float)[..., None] for a in (draws, size))
    j = np.arange(np.max(count, initial=1.0))
    logs = special.gammaln(count + j) - special.gammaln(count) - special.gammaln(j + 1) - (count + j) * np.log(2)
    chances = np.exp(logs) * special.gammaincc(np.maximum(count - j, 1.0), t)
    return 2 * np.where(j < count, chances, 0.0).sum(axis=-1)


def exact_quantile(draws: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """What so many draws of scale 1 sum to with this chance, from below: forty halvings."""
    log_chance = np.log(chance)
    low, high = np.zeros(np.shape(chance)), 4 * draws + 4 * np.log(2 / chance)
    for _ in range(40):
        middle = (low + high) / 2
        with np.errstate(divide="ignore"):
            beyond = np.log(exact_tail(draws, middle)) > log_chance
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return low


computed = ExactValue(
    lambda at: exact_tail(at["n"], at["eps"] * at["t_sum"]),
    box={n: (2, 100), eps: (0.1, 10), t_sum: (0.1, 1e3)},
    because="the exact law of the sum, a mixture of Gamma laws",
)

noise = [Setting("x₁, ..., xₙ independent Laplace noise of scale 1/ε")]

lemma12 = Claim(
    id="dwang20.lemma5.1.12", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.12", line=5255),
    says="A sum of n draws of Laplace noise of scale 1/ε is t or more with probability 2 exp(-ε²t²/(4n)), t < 2n/ε.",
    assumes=[*noise, Lt(t_sum, 2 * n / eps)],
    states=Le(tail, 2 * exp(-(eps**2) * t_sum**2 / (4 * n))),
    checks=[computed],
)

u = eps * t_sum / (2 * n + eps * t_sum)  # where Chernoff's bound is taken, in units of ε

lemma12_corrected = Claim(
    id="dwang20.lemma5.1.12.corrected", kind=Kind.UTILITY,
    source=Source("dwang20", "Lemma 5.1.12", line=5255),
    says="The same with 4n + 2εt in the place of 4n, for every t.",
    assumes=noise,
    states=Le(tail, 2 * exp(-(eps**2) * t_sum**2 / (4 * n + 2 * eps * t_sum))),
    corrects="dwang20.lemma5.1.12",
    checks=[
        Chain(
            tail,
            Step(
                "<=",
                2 * exp(-u * eps * t_sum - n * log(1 - u**2)),
                because=Premise("Chernoff's bound on each side: E exp(uε Σxᵢ) = (1-u²)⁻ⁿ for 0 < u < 1"),
            ),
            Step("<=", 2 * exp(-u * eps * t_sum + n * u**2 / (1 - u**2)), because=Premise("-log(1-v) ≤ v/(1-v)")),
            Step("<=", STATEMENT),  # as 1-u² ≥ 1-u
        ),
        computed,
    ],
)
