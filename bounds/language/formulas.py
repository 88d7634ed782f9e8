"""Formulas as a reader sees them, and as arrays go into them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy
from sympy.printing.numpy import SciPyPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from dpcheck.bounds.language.errors import InvalidInput
from dpcheck.bounds.language.symbols import TABLE

# fmt: off
PLAIN_OPERATIONS = (
    sympy.Symbol, sympy.Number, sympy.NumberSymbol, sympy.Add, sympy.Mul, sympy.Pow, sympy.exp, sympy.log,
    sympy.Min, sympy.Max, sympy.cos, sympy.erfc,
)
# fmt: on
RELATIONS = (sympy.core.relational.Relational, sympy.logic.boolalg.Boolean)
INLINE = {"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True}


def must_be_vectorisable(formula: sympy.Expr, claim_id: str) -> None:
    """Refuse a formula that arrays cannot go into: an open sum or integral, a function nobody knows."""
    odd = [e for e in sympy.preorder_traversal(formula) if not isinstance(e, PLAIN_OPERATIONS)]
    if not odd:
        return  # these always do; nothing is compiled for them
    points = [np.array([box[0], box[1]]) for box in (TABLE[s].box for s in sorted(formula.free_symbols, key=str))]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits = lambdified(formula)(*points).shape in ((), (2,))
    except Exception:  # whatever numpy, scipy or the printer raise for what they cannot do
        fits = False
    if not fits:
        names = ", ".join(sorted({type(e).__name__ for e in odd if not isinstance(e, sympy.Tuple)}))
        limit = "a formula that evaluates on arrays"
        remedy = "Write sums and integrals in closed form, with functions that scipy knows."
        raise InvalidInput(f"statement of {claim_id}", names, limit, remedy)


LOG_GAMMA = sympy.Function("log_gamma")  # sympy's own turns back into gamma in an exponential


def lambdified(expr: sympy.Expr) -> Any:
    """A vectorised numpy function of the sorted free symbols; nan where the formula is no real number."""
    call = compiled(sorted(expr.free_symbols, key=str), expr)

    def evaluated(*args: Any) -> np.ndarray:
        try:
            return real_or_nan(call(*args))
        except OverflowError:  # Python's floats raise where numpy's are infinite
            return real_or_nan(call(*(np.asarray(arg, float) for arg in args)))

    return evaluated


def real_or_nan(values: Any) -> np.ndarray:
    """As floats. A formula beyond its domain has an imaginary part, and what is left without it is nobody's value."""
    found = np.asarray(values)
    if found.dtype.kind == "c":
        found = np.where(found.imag == 0, found.real, np.nan)
    return np.asarray(found, float)


def compiled(names: Sequence[sympy.Symbol], expr: sympy.Basic) -> Any:
    """The same of these symbols, and of conditions too. Plain ones import only the functions that they call: all of
    numpy and scipy takes longer than a claim takes to make.
    """
    if expr.has(sympy.gamma):  # in one exponential a quotient stays where both of its parts would overflow
        from scipy.special import gammaln

        in_one = sympy.powsimp(expr.replace(sympy.gamma, lambda at: sympy.exp(LOG_GAMMA(at))), combine="exp")
        return sympy.lambdify(names, in_one, [{str(LOG_GAMMA): gammaln}, "scipy", "numpy"])
    if all(isinstance(e, (*PLAIN_OPERATIONS, *RELATIONS)) for e in sympy.preorder_traversal(expr)):
        return sympy.lambdify(names, expr, [], printer=SciPyPrinter(INLINE))
    return sympy.lambdify(names, expr, ["scipy", "numpy"])


BRACKETED = re.compile(r"\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]|⟨[^⟩]*⟩|‖[^‖]*‖|\|[^|]*\|")
STAR = "∗"  # stands for the * of a name, as in w*, while those of products are replaced


class NamesOfSums(StrPrinter):
    """A name such as F(w) - F(ŵ) stands in brackets where a sum would; E is left to expectations."""

    def parenthesize(self, item: sympy.Basic, level: int, strict: bool = False) -> str:
        text: str = super().parenthesize(item, level, strict)
        return f"({text})" if item.is_Symbol and level > PRECEDENCE["Add"] and is_a_sum(text) else text

    def _print_Exp1(self, expr: sympy.Expr) -> str:
        return "exp(1)"


def is_a_sum(name: str) -> bool:
    """Whether a name has a + or - outside its brackets and bars; the hyphen of a word is none."""
    outside, before = name, ""
    while outside != before:  # brackets within brackets
        outside, before = BRACKETED.sub("□", outside), outside
    return bool(re.search(r" [-+] |□[²⁺]?[-+]", outside))


def pretty(expr: Any) -> str:
    """One line of readable mathematics."""
    if not isinstance(expr, sympy.Basic):
        return str(expr)
    if isinstance(expr, sympy.Eq):
        return f"{pretty(expr.lhs)} = {pretty(expr.rhs)}"
    swap = {s: sympy.Symbol(TABLE[s].printed.replace("*", STAR)) for s in expr.free_symbols if s in TABLE}
    text = NamesOfSums({"order": "none"}).doprint(expr.xreplace(swap))
    for old, new in (("**(1/3)", "^(1/3)"), ("**", "^"), ("*", "·"), ("<=", "≤"), (">=", "≥"), (STAR, "*")):
        text = text.replace(old, new)
    return text


def latex(expr: sympy.Basic) -> str:
    """LaTeX with the names that a reader of the source expects."""
    names = {s: TABLE[s].latex for s in expr.free_symbols if s in TABLE and TABLE[s].latex}
    return str(sympy.latex(expr, symbol_names=names))
