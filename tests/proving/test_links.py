"""When two sides are the same but for a number: told by values, so that no large number is raised to a power."""

import sympy
from sympy import Rational, log

from dpcheck.bounds.proving.links import nearly, proportional

x, y = sympy.symbols("x y", positive=True)
LARGE = 10**14


def test_sides_with_other_symbols_are_compared_by_value() -> None:
    """Simplified, the first pair has (5/2)^(10^14) in it, and takes all memory there is."""
    assert not proportional(LARGE * y * log(Rational(5, 2) * 2 ** (1 + x)), LARGE * y)
    assert not nearly(LARGE * y * (x + log(Rational(5, 2))), LARGE * y)
    assert proportional((x + x * y) / (1 + y), 3 * x)  # y is in one of them alone, and makes no difference


def test_nothing_is_proportional_to_nothing_alone() -> None:
    assert proportional(sympy.Integer(0), x * (1 + y) - x - x * y)
    assert not proportional(sympy.Integer(0), x)
