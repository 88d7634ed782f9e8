"""The one table of symbols: meaning, domain, unit and the box in which checks search.

Units are exponents of (loss, parameter): a Lipschitz constant is loss / parameter. Two documents may
print different quantities alike; the table's names stay distinct and `printed` is what a reader sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.given import floats

Unit = tuple[Fraction, Fraction]
NONE: Unit = (Fraction(0), Fraction(0))


def unit(loss: int = 0, parameter: int = 0) -> Unit:
    """A unit as exponents of loss and parameter."""
    return (Fraction(loss), Fraction(parameter))


@dataclass(frozen=True)
class Quantity:
    """One row of the table."""

    name: str
    meaning: str
    unit: Unit
    box: tuple[float, float]
    integer: bool = False
    below: float = float("inf")
    printed: str = ""
    latex: str = ""
    holds: str = ""

    def must_contain(self, value: Any) -> None:
        """Refuse numbers outside the domain (0, below)."""
        numbers = floats(self.name, value, "a number or an array of them", f"It is the {self.meaning}.")
        if not np.all(np.isfinite(numbers)) or np.any(numbers < 0) or np.any(numbers >= self.below):
            limit = "finite and >= 0" + (f" and < {self.below:g}" if np.isfinite(self.below) else "")
            raise InvalidInput(self.name, value, limit, f"It is the {self.meaning}.")
        if self.integer and np.any((numbers < 1) | (numbers != np.round(numbers))):
            raise InvalidInput(self.name, value, "a whole number >= 1", f"It is the {self.meaning}.")


TABLE: dict[sympy.Symbol, Quantity] = {}


def quantity(
    name: str,
    meaning: str,
    *,
    loss: int = 0,
    parameter: int = 0,
    box: tuple[float, float] = (1e-2, 1e2),
    integer: bool = False,
    below: float = float("inf"),
    printed: str = "",
    latex: str = "",
    holds: str = "",
) -> sympy.Symbol:
    """Declare a symbol. Every symbol is positive; a zero is the limit of positives.

    `holds` is for measures: "in expectation" or "with probability 1-γ", what a bound on it promises. What many
    files use stands below; an algorithm's own symbols are declared in its file. One name, one meaning.
    """
    symbol = sympy.Symbol(name, positive=True, integer=integer or None)
    row = Quantity(name, meaning, unit(loss, parameter), box, integer, below, printed or name, latex, holds)
    if TABLE.setdefault(symbol, row) != row or any(s.name == name and s != symbol for s in TABLE):
        raise InvalidInput("symbol", name, "declared once", "Choose another name and set `printed`.")
    return symbol


def printed_name(name: str) -> str:
    """A symbol's name as a reader knows it; as it is, if the table has none of that name."""
    return next((row.printed for row in TABLE.values() if row.name == name), name)


def point_in_words(point: Mapping[str, float]) -> str:
    """Where something was found, in the document's symbols.

    >>> point_in_words({"eps": 0.5, "T": 1e9})
    'ε = 0.5, T = 1e+09'
    """
    return ", ".join(f"{printed_name(name)} = {value:.4g}" for name, value in point.items())


# Sizes
n = quantity("n", "number of records", box=(2, 1e6), integer=True)
d = quantity("d", "dimension", box=(1, 1e4), integer=True)
T = quantity("T", "number of steps", box=(1, 1e4), integer=True)
t = quantity("t", "index of a step", box=(1, 1e4), integer=True)
m = quantity("m", "records per batch", box=(1, 1e4), integer=True)
batch = quantity("batch", "records of an inner step", box=(1, 1e4), integer=True, printed="b", latex="b")
ridge = quantity("ridge", "weight of the squared norm", loss=1, parameter=-2, printed="λ", latex=r"\lambda")

# Privacy
eps = quantity("eps", "privacy parameter epsilon", box=(1e-2, 1e2), printed="ε", latex=r"\varepsilon")
delta = quantity("delta", "privacy parameter delta", box=(1e-10, 0.5), below=1.0, printed="δ")
delta1 = quantity("delta1", "slack of a composition", box=(1e-10, 0.5), below=1.0, printed="δ'", latex=r"\delta'")
eps_out = quantity("eps_out", "epsilon after amplification or composition", printed="ε'", latex=r"\varepsilon'")
q = quantity("q", "share of the records that is sampled", box=(1e-4, 1.0), printed="α", latex=r"\alpha")

# Losses
L = quantity("L", "Lipschitz constant of each loss", loss=1, parameter=-1)
beta = quantity("beta", "smoothness of each loss", loss=1, parameter=-2, printed="β")
mu = quantity("mu", "strong convexity of each loss", loss=1, parameter=-2, printed="μ")
D = quantity("D", "bound on the norm of the minimiser", parameter=1)
R = quantity("R", "radius of the ball that holds the population minimiser", parameter=1)
w_hat = quantity("w_hat", "norm of the minimiser", parameter=1, printed="‖ŵ‖", latex=r"\|\hat w\|")
distance = quantity(
    "distance", "distance of the start from the minimiser", parameter=1, printed="‖w₀-ŵ‖", latex=r"\|w_0-\hat w\|"
)
D_F = quantity("D_F", "sqrt(2 (F(w0) - F*) / beta)", parameter=1, printed="D_F")

# Algorithms
eta = quantity("eta", "step size", loss=-1, parameter=2, printed="η")
Delta = quantity("Delta", "l2 sensitivity", parameter=1, printed="Δ")
Delta1 = quantity("Delta1", "l1 sensitivity", parameter=1, printed="Δ₁")
Delta_T = quantity("Delta_T", "distance of the last iterates of two neighbouring runs", parameter=1, printed="Δ_T")
sigma = quantity("sigma", "scale of the noise", parameter=1, printed="σ")
sigma_g = quantity("sigma_g", "deviation of a noisy gradient", loss=1, parameter=-1, printed="σ", latex=r"\sigma")
sigma_t = quantity("sigma_t", "martingale scale at a step", loss=1, printed="σ_t")
alpha_g = quantity(
    "alpha_g", "noise on each coordinate of a gradient", loss=1, parameter=-1, printed="α", latex=r"\alpha"
)
gamma = quantity("gamma", "failure probability", box=(1e-6, 0.5), below=1.0, printed="γ")

x_tail = quantity("x_tail", "logarithm of an inverse failure probability", box=(1e-2, 50), printed="x", latex="x")

# Hidden constants: "there is a constant such that"
c = quantity("c", "hidden constant", box=(1e-3, 1e3))
c1 = quantity("c1", "hidden constant", box=(1e-3, 1e3), printed="c₁", latex="c_1")
c2 = quantity("c2", "hidden constant", box=(1e-3, 1e3), printed="c₂", latex="c_2")

# Measures: what a claim bounds
MEAN, LIKELY = "in expectation", "with probability 1-γ"
excess_risk = quantity(
    "excess_risk",
    "E F(w_priv, S) - F(w_hat, S)",
    loss=1,
    printed="E F(w_priv) - F(ŵ)",
    latex=r"\mathbb{E}F(w_{priv})-F(\hat w)",
    holds=MEAN,
)
likely_excess_risk = quantity(
    "likely_excess_risk",
    "F(w_priv, S) - F(w_hat, S)",
    loss=1,
    printed="F(w_priv) - F(ŵ)",
    latex=r"F(w_{priv})-F(\hat w)",
    holds=LIKELY,
)
population_risk = quantity(
    "population_risk",
    "G(w_priv) - G(w*)",
    loss=1,
    printed="G(w_priv) - G(w*)",
    latex=r"G(w_{priv})-G(w^*)",
    holds=LIKELY,
)
gradient_norm2 = quantity(
    "gradient_norm2",
    "E ||grad F(w_priv, S)||^2",
    loss=2,
    parameter=-2,
    printed="E ‖∇F(w_priv)‖²",
    latex=r"\mathbb{E}\|\nabla F(w_{priv})\|^2",
    holds=MEAN,
)
gradient_norm = quantity(
    "gradient_norm",
    "E ||grad F(w_priv, S)||",
    loss=1,
    parameter=-1,
    printed="E ‖∇F(w_priv)‖",
    latex=r"\mathbb{E}\|\nabla F(w_{priv})\|",
    holds=MEAN,
)
gradient_map2 = quantity(
    "gradient_map2",
    "E ||gradient mapping of F + r at w_priv||^2",
    loss=2,
    parameter=-2,
    printed="E ‖G(w_priv)‖²",
    latex=r"\mathbb{E}\|\mathcal{G}(w_{priv})\|^2",
    holds=MEAN,
)
frank_wolfe_gap = quantity(
    "frank_wolfe_gap",
    "E max over s in C of <grad F(w_priv), w_priv - s>",
    loss=1,
    printed="E FW-gap(w_priv)",
    latex=r"\mathbb{E}\,g_{FW}(w_{priv})",
    holds=MEAN,
)
estimation_error = quantity(
    "estimation_error",
    "E ||w_priv - w*||",
    parameter=1,
    printed="E ‖w_priv - w*‖",
    latex=r"\mathbb{E}\|w_{priv}-w^*\|",
    holds=MEAN,
)
regret = quantity(
    "regret",
    "sum of losses less that of the best fixed point",
    loss=1,
    printed="regret",
    latex=r"\mathrm{regret}",
    holds=MEAN,
)
noise_norm2 = quantity(
    "noise_norm2", "E ||z||^2", parameter=2, printed="E ‖z‖²", latex=r"\mathbb{E}\|z\|^2", holds=MEAN
)
run_time = quantity("run_time", "arithmetic operations", printed="time", latex=r"\mathrm{time}")
gradients = quantity(
    "gradients", "evaluations of a record's gradient", printed="gradients", latex=r"\mathrm{gradients}"
)
ratio = quantity("ratio", "one bound over another", printed="ratio", latex=r"\mathrm{ratio}")


def constants_of_losses() -> set[sympy.Symbol]:
    """Lipschitz constants, smoothness, strong convexity: what only a hypothesis on the losses gives a meaning."""
    return {symbol for symbol, row in TABLE.items() if "of each loss" in row.meaning}


class UnitMismatch(InvalidInput):
    """Two sides, or two terms, of different units."""


def unit_of(expr: sympy.Expr) -> Unit:
    """Unit of an expression; refuses sums of unlike terms and exp/log of anything with a unit."""
    if expr in TABLE:
        return TABLE[expr].unit
    if expr.is_number:
        return NONE
    if isinstance(expr, sympy.Mul):
        parts = [unit_of(a) for a in expr.args]
        return (sum((p[0] for p in parts), Fraction(0)), sum((p[1] for p in parts), Fraction(0)))
    if isinstance(expr, sympy.Pow):
        base, power = expr.args
        inner = unit_of(base)
        if inner == NONE:
            return NONE
        if not power.is_Rational:
            raise UnitMismatch("exponent", str(power), "a fixed number", "A power of a unit must be rational.")
        k = Fraction(int(power.p), int(power.q))
        return (inner[0] * k, inner[1] * k)
    units = {unit_of(a) for a in expr.args}
    if isinstance(expr, sympy.Add | sympy.Min | sympy.Max):
        if len(units) == 1:
            return units.pop()
        raise UnitMismatch("sum", str(expr), "of terms with one unit", "Check the formula for a lost factor.")
    if units == {NONE}:
        return NONE
    if isinstance(expr, sympy.Sum):
        return unit_of(expr.function)
    raise UnitMismatch("argument", str(expr), "free of units", "exp, log and their kin take pure numbers.")


def unit_text(value: Unit) -> str:
    """`loss^1/2 parameter^-1` and so on."""
    names = ("loss", "parameter")
    parts = [f"{w}^{e}" if e != 1 else w for w, e in zip(names, value, strict=True) if e]
    return " ".join(parts) or "no unit"
