"""Claim, Check: a published statement, and what may yield evidence for or against it.

A claim holds the mathematics as printed. Checks yield evidence; the verdict is what the evidence adds up to.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import sympy

from dpcheck.bounds.language.errors import HypothesisViolated, InvalidInput, UnknownName
from dpcheck.bounds.language.evidence import (
    CITATION,
    DOCUMENTS,
    Effort,
    Evidence,
    Kind,
    Provenance,
    Source,
    Verdict,
    as_reported,
    judge,
)
from dpcheck.bounds.language.formulas import lambdified, latex, must_be_vectorisable, pretty
from dpcheck.bounds.language.guarantees import Guarantee
from dpcheck.bounds.language.statements import (
    Cites,
    FunctionClass,
    Hypothesis,
    Rate,
    Setting,
    convex,
    lipschitz,
    smooth,
    strongly_convex,
)
from dpcheck.bounds.language.symbols import TABLE, UnitMismatch, constants_of_losses, unit_of, unit_text
from dpcheck.bounds.relations.conditions import contradiction

# With what a claim is written: a file of the library takes all of it from here.
# fmt: off
__all__ = [
    "CITATION", "DOCUMENTS", "Check", "Cites", "Claim", "Effort", "Evidence", "FunctionClass", "Hypothesis", "Kind",
    "Provenance", "Rate", "Replayable", "Setting", "Source", "Verdict", "as_reported", "bounds_above", "convex",
    "judge", "lambdified", "latex", "lipschitz", "pretty", "smooth", "strongly_convex",
]
# fmt: on


@runtime_checkable
class Check(Protocol):
    """A procedure that yields evidence for or against a claim."""

    kind: ClassVar[str]

    def run(self, claim: Claim, effort: Effort) -> Evidence: ...


@runtime_checkable
class Replayable(Check, Protocol):
    """A check that can be run again at one point."""

    def replay(self, claim: Claim, point: Mapping[str, Any]) -> Evidence: ...


@dataclass(frozen=True, eq=False)
class Claim:
    """One published statement, as printed. A corrected version is a second claim that names the first.

    `hidden` lists constants that the statement says exist ("there are c, c1 such that"): numbers that depend on
    nothing else. `cites` lists the claims that its proof in the source uses, those of its chains among them. `added`
    lists hypotheses that are not printed: they count as the others do, and are shown as added. `misprint_of` names
    the claim in which the document prints the right form of a statement that is false as it stands.
    """

    id: str
    source: Source
    kind: Kind
    says: str
    states: sympy.Basic | Rate
    assumes: Sequence[Hypothesis] = ()
    guarantee: Guarantee | None = None
    corrects: str | None = None
    checks: Sequence[Check] = field(default=(), repr=False)
    ignores_units: bool = False
    hidden: Sequence[sympy.Symbol] = ()
    cites: Sequence[Cites] = ()
    added: Sequence[Hypothesis] = ()
    provenance: Provenance = Provenance.PRINTED
    misprint_of: str | None = None
    module: str = field(init=False, repr=False)  # whose body made it: there it stands, wherever it is imported to

    def __post_init__(self) -> None:
        object.__setattr__(self, "module", module_being_run())
        used = [c for check in self.checks for c in getattr(check, "cites", ())]
        object.__setattr__(self, "cites", [*self.cites, *(c for c in used if c not in self.cites)])
        object.__setattr__(self, "assumes", [*self.assumes, *(h for h in self.added if h not in self.assumes)])
        if self.corrects is not None:
            object.__setattr__(self, "provenance", Provenance.CORRECTION)
        document = self.id.split(".")[0]
        if document != self.source.document or document not in DOCUMENTS:
            raise InvalidInput("claim id", self.id, f"<document>.<kind><number> with {sorted(DOCUMENTS)}", "Rename it.")
        if self.states in (sympy.true, sympy.false):
            limit = "a relation that the symbols' domains do not decide"
            raise InvalidInput(f"statement of {self.id}", str(self.states), limit, "Check its two sides.")
        unknown = sorted(str(s) for s in self.symbols if s not in TABLE)
        if unknown:
            remedy = "Add them to bounds/language/symbols.py."
            raise InvalidInput(f"symbols of {self.id}", ", ".join(unknown), "declared in the table", remedy)
        self._must_be_satisfiable()
        must_be_vectorisable(self.formula, self.id)

    def _must_be_satisfiable(self) -> None:
        """Refuse hypotheses that no numbers meet."""
        if any(h == sympy.false for h in self.assumes):
            raise InvalidInput(
                f"hypotheses of {self.id}", "False", "satisfiable", "A hypothesis contradicts a symbol's domain."
            )
        if len(self.conditions) > 0:
            why = contradiction(self.conditions)
            if why is not None:
                words = " and ".join(pretty(c) for c in self.conditions)
                remedy = f"No numbers meet them ({why}): check the signs and the ends of the ranges."
                raise InvalidInput(f"hypotheses of {self.id}", words, "satisfiable together", remedy)

    # What it says ------------------------------------------------------------------------------
    @cached_property
    def symbols(self) -> frozenset[sympy.Symbol]:
        """Every symbol of statement and numeric hypotheses."""
        found = set(self.states.free_symbols)
        for h in self.assumes:
            if isinstance(h, sympy.Basic):
                found |= h.free_symbols
            elif isinstance(h, FunctionClass) and h.constant is not None:
                found |= h.constant.free_symbols
        return frozenset(found)

    @property
    def subject(self) -> sympy.Expr:
        """The left-hand side: what is bounded or defined."""
        return self.states.measure if isinstance(self.states, Rate) else self.states.args[0]

    @property
    def formula(self) -> sympy.Expr:
        """The right-hand side: the bound or the definition."""
        return self.states.of if isinstance(self.states, Rate) else self.states.args[1]

    @property
    def conditions(self) -> list[sympy.Basic]:
        """The hypotheses that are relations between numbers."""
        return [h for h in self.assumes if isinstance(h, sympy.Basic) and h != sympy.true]

    @property
    def named_constants(self) -> set[sympy.Symbol]:
        """The constants of losses that its hypotheses name, as those of a class or in words."""
        classes = [h.constant for h in self.assumes if isinstance(h, FunctionClass) and h.constant is not None]
        words = {word for h in self.assumes if isinstance(h, Setting) for word in re.findall(r"\w+", h.words)}
        said = {s for s in constants_of_losses() if TABLE[s].printed in words}
        return sympy.Tuple(*classes).free_symbols | said

    @property
    def relation(self) -> str:
        """How subject and formula stand: =, <=, <, >= or >; of a rate, up to its constant. "" if otherwise."""
        if isinstance(self.states, Rate):
            return ">=" if self.states.below else "<="
        return {"==": "="}.get(op := getattr(self.states, "rel_op", ""), op)

    @property
    def promise(self) -> str:
        """The guarantee in the symbols as printed; "" if it has none."""
        if self.guarantee is None:
            return ""
        inner = ", ".join(pretty(v) for v in self.guarantee.parameters.values())
        return f"{type(self.guarantee).__name__}({inner}), {self.guarantee.relation} neighbours"

    @property
    def holds(self) -> str:
        """What a bound promises of its measure: in expectation, with probability 1-γ, or always ("")."""
        return TABLE[self.subject].holds if self.subject in TABLE else ""

    def has(self, name: str) -> FunctionClass | None:
        """The function-class hypothesis of that name, if assumed."""
        return next((h for h in self.assumes if isinstance(h, FunctionClass) and h.name == name), None)

    @property
    def unit_gap(self) -> str | None:
        """A sentence if the two sides disagree in units."""
        try:
            left, right = unit_of(self.subject), unit_of(self.formula)
        except UnitMismatch as gap:
            return str(gap)
        if left == right or self.formula == 0:
            return None
        return f"left side has unit [{unit_text(left)}], right side [{unit_text(right)}]"

    def text(self) -> str:
        """The statement on one line, in readable mathematics."""
        if isinstance(self.states, Rate):
            return f"{pretty(self.states.measure)} = {self.states.sign}({pretty(self.states.of)})"
        signs = {"==": "=", "<=": "≤", ">=": "≥", "<": "<", ">": ">"}
        sign = signs.get(getattr(self.states, "rel_op", ""), "")
        return f"{pretty(self.subject)} {sign} {pretty(self.formula)}" if sign else pretty(self.states)

    def latex(self) -> str:
        """The statement as LaTeX."""
        if isinstance(self.states, Rate):
            order = "\\Omega" if self.states.below else "O"
            return f"{latex(self.states.measure)} = {order}\\left({latex(self.states.of)}\\right)"
        return latex(self.states)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:
        from dpcheck.bounds.language.notebook import html_of

        return html_of([self])

    def _repr_markdown_(self) -> str:
        from dpcheck.bounds.language.notebook import markdown_of

        return markdown_of([self])

    # Numbers -----------------------------------------------------------------------------------
    def violated_by(self, values: Mapping[str, Any]) -> sympy.Basic | None:
        """The first numeric hypothesis that these numbers break; None if all that can be decided hold."""
        point = {s: values[str(s)] for s in self.symbols if str(s) in values}
        for condition in self.conditions:
            if condition.free_symbols <= point.keys():
                names = sorted(condition.free_symbols, key=str)
                numbers = [np.asarray(point[s], float) for s in names]
                with np.errstate(all="ignore"):
                    if isinstance(condition, sympy.Eq):  # of floats, up to rounding
                        left, right = sympy.lambdify(names, condition.args, "numpy")(*numbers)
                        held = np.isclose(left, right, rtol=1e-12, atol=0)
                    else:
                        held = sympy.lambdify(names, condition, "numpy")(*numbers)
                if not np.all(held):
                    return condition
        return None

    def evaluate(self, **values: Any) -> Any:
        """The right-hand side at these numbers (arrays broadcast). A violated hypothesis is an error.

        The hidden constant of a rate is taken as 1, and so are those that `hidden` lists unless given. A hypothesis
        that names one is undecided until it is given. Symbols that the claim does not name change nothing; a name that
        is no symbol's is refused.
        """
        known = {row.name for row in TABLE.values()}
        for name in values:
            if name not in known:
                raise unknown_symbol(name, self)
        asked = values
        values = {**{str(s): 1.0 for s in self.hidden if s in self.formula.free_symbols}, **values}
        by_name = {str(s): s for s in self.symbols | self.formula.free_symbols}
        for name, value in values.items():
            if name in by_name:
                TABLE[by_name[name]].must_contain(value)
        needed = sorted(self.formula.free_symbols, key=str)
        missing = [str(s) for s in needed if str(s) not in values]
        if missing:
            meaning = "; ".join(f"{s} is the {TABLE[by_name[s]].meaning}" for s in missing)
            raise InvalidInput(f"arguments of {self.id}", sorted(values), f"complete, with {missing}", meaning + ".")
        broken = self.violated_by(asked)
        if broken is not None:
            given = {str(s): values[str(s)] for s in sorted(broken.free_symbols, key=str)}
            raise HypothesisViolated(self.id, given, pretty(broken), "Choose values inside its hypotheses.")
        with np.errstate(all="ignore"):
            found = self._numeric(*(np.asarray(values[str(s)], float) for s in needed))[()]
        if not np.all(np.isfinite(found)):
            given = {str(s): values[str(s)] for s in needed}
            zeros = {k: v for k, v in given.items() if np.any(np.asarray(v) == 0)}
            what = f"{' and '.join(zeros or given)}, for {self.id},"
            remedy = "Use values above 0." if zeros else "Choose values less extreme."
            raise InvalidInput(what, [*(zeros or given).values()], "where the formula is finite", remedy)
        return found

    def solve_for(self, symbol: str, **values: Any) -> Any:
        """The value of a symbol that brings the bound to `error=`, given the others."""
        from dpcheck.bounds.relations.solving import solve_for  # late: only who solves pays for importing scipy

        return solve_for(self, symbol, **values)

    @cached_property
    def _numeric(self) -> Any:
        return lambdified(self.formula)

    def where(self, **values: Any) -> sympy.Expr:
        """The right-hand side with these symbols replaced."""
        by_name = {str(s): s for s in self.formula.free_symbols}
        return self.formula.subs({by_name[k]: v for k, v in values.items() if k in by_name})


def unknown_symbol(name: str, claim: Claim) -> UnknownName:
    """The error for a name that is no symbol's, with those that the claim has."""
    own = sorted(str(s) for s in claim.formula.free_symbols)
    near = difflib.get_close_matches(name, [row.name for row in TABLE.values()], n=1)
    hint = f"Did you mean {near[0]}?" if near else f"{claim.id} takes {', '.join(own)}."
    return UnknownName("symbol", name, "the name of a symbol", hint)


def module_being_run() -> str:
    """The module whose body is under way, however deep the call: that of the nearest frame that is a module's."""
    frame = sys._getframe(1)
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


def bounds_above(claim: Claim) -> bool:
    """Whether a check that shows upper bounds speaks of the claim: a lower bound is none."""
    return claim.relation not in (">=", ">")
