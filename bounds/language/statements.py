"""What statements are made of: hypotheses about losses, numbers and settings, rates, citations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import sympy

from dpcheck.bounds.language.formulas import pretty
from dpcheck.bounds.language.symbols import c


@dataclass(frozen=True)
class FunctionClass:
    """A hypothesis about the losses rather than about numbers: convex, smooth, Lipschitz, ..."""

    name: str
    constant: sympy.Expr | None = None
    where: str = ""

    def __str__(self) -> str:
        words = self.name if self.constant is None else f"{pretty(self.constant)}-{self.name}"
        return f"each loss is {words}" + (f" {self.where}" if self.where else "")


def convex() -> FunctionClass:
    """Each loss is convex."""
    return FunctionClass("convex")


def smooth(constant: sympy.Expr) -> FunctionClass:
    """Each gradient is Lipschitz."""
    return FunctionClass("smooth", constant)


def strongly_convex(constant: sympy.Expr) -> FunctionClass:
    """Each loss minus constant/2 ||w||^2 is convex."""
    return FunctionClass("strongly convex", constant)


def lipschitz(constant: sympy.Expr, where: str = "") -> FunctionClass:
    """Gradients bounded, everywhere unless `where` says less."""
    return FunctionClass("Lipschitz", constant, where)


@dataclass(frozen=True)
class Setting:
    """A hypothesis in words that no number decides."""

    words: str

    def __str__(self) -> str:
        return self.words


LOGS_FREE = Setting("powers of logarithms are left out, as Õ does")

Hypothesis: TypeAlias = FunctionClass | Setting | sympy.Basic


@dataclass(frozen=True)
class Rate:
    """`measure` = O(`of`): true for some hidden constant, `constant`, that depends on nothing.

    With `below` it is a lower bound, `measure` = Omega(`of`).
    """

    measure: sympy.Symbol
    of: sympy.Expr
    constant: sympy.Symbol = c
    below: bool = False

    @property
    def free_symbols(self) -> set[sympy.Symbol]:
        return {self.measure} | self.of.free_symbols

    @property
    def sign(self) -> str:
        """O or Omega."""
        return "Ω" if self.below else "O"


@dataclass(frozen=True)
class Cites:
    """A claim that the proof of another uses, with what its symbols stand for there (itself unless given).

    `granted` is a premise: why the hypotheses of the cited claim that are in words (settings, and where the losses
    are Lipschitz) hold here, though they are not assumed in the same words.
    """

    id: str
    where: Mapping[sympy.Symbol, sympy.Expr] = field(default_factory=dict)
    granted: str = ""
