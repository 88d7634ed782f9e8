"""Whether hypotheses follow from other hypotheses: relations between numbers, classes of losses, settings in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from tokenize import TokenError
from typing import Any

import sympy
from sympy.parsing import sympy_parser

from dpcheck.bounds.language.claim import Claim, FunctionClass, Hypothesis, Setting, pretty
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.bounds.relations.conditions import relation_follows
from dpcheck.bounds.relations.inequalities import Answer, Box, Where, meets


@dataclass(frozen=True)
class Need:
    """One hypothesis that must follow: as printed, as it reads here, and what was found."""

    printed: Hypothesis
    here: Hypothesis
    answer: Answer

    def __str__(self) -> str:
        text = pretty(self.printed).replace("each loss is", "each loss to be")
        reads = "" if self.here in (self.printed, sympy.true) else f" (here: {pretty(self.here)})"
        return f"{text}{reads}"


def needs(cited: Claim, given: Claim, where: Where, seed: int = 0) -> list[Need]:
    """Every hypothesis of `cited`, read through `where`, and whether it follows from those of `given`."""
    found = []
    for hypothesis in cited.assumes:
        here = read(hypothesis, where)
        found.append(Need(hypothesis, here, follows(here, given.assumes, seed)))
    return found


def read(hypothesis: Hypothesis, where: Where) -> Hypothesis:
    """The hypothesis with its symbols replaced by what they stand for."""
    if isinstance(hypothesis, FunctionClass):
        constant = hypothesis.constant
        replaced = None if constant is None else constant.subs(where, simultaneous=True)
        return FunctionClass(hypothesis.name, replaced, hypothesis.where)
    if isinstance(hypothesis, sympy.Basic):
        return sympy.sympify(hypothesis).subs(where, simultaneous=True)
    return hypothesis


def follows(needed: Hypothesis, given: Sequence[Hypothesis], seed: int = 0) -> Answer:
    """Whether a hypothesis follows from others; False comes with a point where it is about numbers."""
    if isinstance(needed, FunctionClass):
        return _class_follows(needed, given, seed)
    if isinstance(needed, Setting):
        held = any(isinstance(h, Setting) and h.words == needed.words for h in given)
        return Answer(held, "assumed in the same words" if held else "assumed nowhere")
    return relation_follows(needed, relations(given), seed)


def relations(given: Sequence[Hypothesis]) -> list[sympy.Basic]:
    """The relations between numbers, with μ ≤ β wherever losses are μ-strongly convex and β-smooth."""
    held = [h for h in given if isinstance(h, sympy.Basic) and h != sympy.true]
    steep, curved = ([h for h in given if isinstance(h, FunctionClass) and h.name == name] for name in CURVATURES)
    implied = [sympy.Le(a.constant, b.constant) for a in steep for b in curved if a.where == b.where]
    return [*held, *(relation for relation in implied if relation != sympy.true)]


CURVATURES = ("strongly convex", "smooth")


def beyond(box: Box, given: Sequence[sympy.Basic], seed: int) -> bool:
    """Whether the hypotheses allow values outside the box."""
    ends = [relation for s, (low, high) in box.items() for relation in (sympy.Ge(s, low), sympy.Le(s, high))]
    return not all(end == sympy.true or follows(end, given, seed).holds for end in ends)


# Step sizes in words -------------------------------------------------------------------------------
STEP_SIZE = re.compile(r"(?:\bstep size|\bη =) (min\(.*\)|[^,;]+)")
IMPLIED = (*sympy_parser.standard_transformations, sympy_parser.implicit_multiplication)


def says_step(words: str, taken: sympy.Expr, known: Iterable[sympy.Symbol] = ()) -> bool:
    """Whether words name this step size: "step size 1/(μ+β), any T". Of a minimum, one of its two may be taken."""
    found = STEP_SIZE.search(words)
    steps = found[1].removeprefix("min(").removesuffix(")" if found[1].startswith("min(") else "") if found else ""
    printed = {TABLE[s].printed: s for s in (*known, *taken.free_symbols)}
    return any(sympy.simplify(said - taken) == 0 for step in steps.split(", ") for said in as_formula(step, printed))


def as_formula(text: str, printed: Mapping[str, sympy.Symbol]) -> Iterator[sympy.Expr]:
    """What is written, in symbols as they are printed; nothing of words that are no formula."""
    names = {f"_{i}": symbol for i, symbol in enumerate(printed.values())}
    for name, shown in sorted(zip(names, printed, strict=True), key=lambda pair: -len(pair[1])):
        text = text.replace(shown, f" {name} ")
    text = re.sub(r"√\s*(\w+)", r"sqrt(\1)", text.replace("·", "*").replace("²", "**2"))
    try:
        found = sympy_parser.parse_expr(text, local_dict=dict(names), transformations=IMPLIED)
    except (SyntaxError, TokenError, TypeError, ValueError, AttributeError, sympy.SympifyError):
        return
    if isinstance(found, sympy.Expr):
        yield found


# Classes of losses ---------------------------------------------------------------------------------
STRONGER = {"convex": ("convex", "strongly convex")}  # any of these will do
LARGER_IS_WEAKER = {"smooth": True, "Lipschitz": True, "strongly convex": False}


def _class_follows(needed: FunctionClass, given: Sequence[Hypothesis], seed: int) -> Answer:
    kin = [h for h in given if isinstance(h, FunctionClass) and h.name in STRONGER.get(needed.name, (needed.name,))]
    fitting = [h for h in kin if h.where in ("", needed.where)]
    if not fitting:
        return Answer(False, f"assumed only {kin[0].where}" if kin else "assumed nowhere")
    numbers = relations(given)
    asked = [constants_fit(needed, h) for h in fitting]
    if sympy.true in asked:
        return Answer(True, "assumed")
    answers = [relation_follows(relation, numbers, seed) for relation in asked]
    return next((a for a in answers if a.holds), answers[0])


def constants_fit(needed: FunctionClass, held: FunctionClass) -> sympy.Basic:
    """A smooth function is smooth with any larger constant; a strongly convex one with any smaller."""
    if needed.constant is None or held.name != needed.name:
        return sympy.true
    if held.constant is None:
        return sympy.false
    if needed.name not in LARGER_IS_WEAKER:
        return sympy.Eq(held.constant, needed.constant)
    ends = (held.constant, needed.constant)
    return sympy.Le(*(ends if LARGER_IS_WEAKER[needed.name] else ends[::-1]))


def broken_at(needed: Hypothesis, given: Sequence[Hypothesis], point: Mapping[str, Any]) -> bool:
    """Whether a hypothesis about numbers fails at the point; what the point does not decide is not broken."""
    asked: list[sympy.Basic] = [needed] if isinstance(needed, sympy.Basic) else []
    if isinstance(needed, FunctionClass):
        kin = [h for h in given if isinstance(h, FunctionClass) and h.name == needed.name]
        asked = [constants_fit(needed, h) for h in kin if h.where in ("", needed.where)]
    decided = [r for r in asked if {str(s) for s in r.free_symbols} <= point.keys()]
    here = [{s: float(point[str(s)]) for s in r.free_symbols} for r in decided]
    return bool(decided) and not any(meets(r, at) for r, at in zip(decided, here, strict=True))
