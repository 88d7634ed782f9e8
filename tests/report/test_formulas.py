"""Formulas on pages say what the claims say: each is read back, from its text and from its MathML, and evaluated."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import special

from dpcheck.bounds.language.claim import Rate
from dpcheck.bounds.language.symbols import TABLE
from dpcheck.bounds.registry import library
from dpcheck.report.formulas import Node, NoFormula, drawn, formula, mathml, name_as_mathml

FUNCTIONS = {
    "gamma": special.gamma,
    "sqrt": np.sqrt,
    "log": np.log,
    "exp": np.exp,
    "Max": np.maximum,
    "Min": np.minimum,
    "Abs": np.abs,
    "cos": np.cos,
    "sin": np.sin,
    "floor": np.floor,
    "ceiling": np.ceil,
    "erfc": lambda x: math.erfc(x),
}
CONSTANTS = {"pi": math.pi, "E": math.e}


def value(tree: Node, at: Mapping[str, float]) -> Any:
    """A formula at a point."""
    parts = [value(part, at) for part in tree.parts]
    match tree.kind:
        case "number":
            return float(tree.text)
        case "constant":
            return CONSTANTS[tree.text]
        case "name":
            return at[tree.text]
        case "sum":
            return sum(parts)
        case "negative":
            return -parts[0]
        case "product":
            return math.prod(parts)
        case "fraction":
            return parts[0] / parts[1]
        case "power":
            return parts[0] ** parts[1]
        case _:
            return FUNCTIONS[tree.text](*parts)


# From text -----------------------------------------------------------------------------------------
def test_every_statement_is_read_as_the_claim_has_it() -> None:
    """At a random point the right-hand side that is read from the text is the claim's own formula."""
    rng, compared = np.random.default_rng(0), 0
    for claim_id in library:
        claim = library[claim_id]
        names = {s: TABLE[s].printed for s in sorted(claim.symbols | claim.formula.free_symbols, key=str)}
        tree = formula(claim.text(), names.values())
        right = tree.parts[-1].parts[0] if isinstance(claim.states, Rate) else tree.parts[-1]
        if len(set(names.values())) < len(names):
            continue  # two quantities that are printed alike: no point tells them apart
        for _ in range(200):
            at = {s: np.exp(rng.uniform(*np.log(TABLE[s].box))) for s in names}  # numpy's: too large is infinite
            with np.errstate(all="ignore"):
                own = float(claim._numeric(*(at[s] for s in sorted(claim.formula.free_symbols, key=str))))
                read = value(right, {printed: at[symbol] for symbol, printed in names.items()})
            if read == pytest.approx(own, rel=1e-9, nan_ok=True):
                break  # elsewhere doubles cancel or overflow; what was misread agrees nowhere
        assert read == pytest.approx(own, rel=1e-9, nan_ok=True), claim_id
        compared += math.isfinite(own)
    assert compared > 0.9 * len(list(library))


@pytest.mark.parametrize(
    "text", ["each loss is L-smooth", "x +", "x y", "x + unknown", "(x", "f(x)", "", "x = = y", "2x"]
)
def test_what_is_no_formula_is_none(text: str) -> None:
    assert mathml(text, ["x", "y", "L"]) is None
    with pytest.raises(NoFormula):
        formula(text, ["x", "y", "L"])


def test_the_longest_name_counts() -> None:
    assert formula("D_F·D", ["D", "D_F"]).parts == (Node("name", "D_F"), Node("name", "D"))
    assert formula("F(x)-F(y⁺)·L", ["F(x)-F(y⁺)", "L"]).kind == "product"
    with pytest.raises(NoFormula):
        formula("n₀", ["n"])


# From MathML ---------------------------------------------------------------------------------------
class LogPower:
    """log^p of what follows in brackets."""

    def __init__(self, power: float) -> None:
        self.power = power

    def __call__(self, x: float) -> float:
        return math.log(x) ** self.power


SIGNS = {"−": "-", "+": "+", "\u2062": "*", "⋅": "*", "\u2061": "", "(": "(", ")": ")", "/": "/", ",": ","}


def read_back(element: ElementTree.Element) -> str:
    """What a reader of the picture would type into Python."""
    parts = [read_back(child) for child in element]
    match element.tag:
        case "mi" | "mn":
            return element.text or ""
        case "mo":
            return SIGNS[element.text or ""]
        case "mfrac":
            return f"(({parts[0]})/({parts[1]}))"
        case "msqrt":
            return f"sqrt({''.join(parts)})"
        case "msup" if parts[0] == "log":
            return f"LogPower({parts[1]})"
        case "msup":
            closed = parts[0].startswith("(") or [e.tag for e in element[0]] == ["msqrt"]  # a root ends with its bar
            assert closed or not re.search(r"[-+*/]", parts[0])  # else only its last factor is raised
            return f"(({parts[0]})**({parts[1]}))"
        case _:
            return "".join(parts)


AT = {"a": 0.7, "b": 1.3, "x": 2.1}
NAME = Node("name", "a")
leaves = st.sampled_from([*(Node("name", name) for name in AT), Node("number", "2"), Node("number", "3")])


def larger(parts: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    def two(kind: str) -> st.SearchStrategy[Node]:
        return st.builds(lambda *of: Node(kind, parts=of), parts, parts)

    def one(kind: str, text: str = "") -> st.SearchStrategy[Node]:
        return st.builds(lambda of: Node(kind, text, (of,)), parts)

    calls = [one("call", name) for name in ("sqrt", "log", "exp")]
    return st.one_of(two("sum"), two("product"), two("fraction"), two("power"), one("negative"), *calls)


@example(Node("power", parts=(Node("call", "sqrt", (Node("sum", parts=(NAME, NAME)),)), NAME)))
@given(st.recursive(leaves, larger, max_leaves=8))
def test_no_bracket_is_lost(tree: Node) -> None:
    """What is drawn, read as a picture, has the value of the formula."""
    try:
        with np.errstate(all="ignore"):
            wanted = value(tree, AT)
    except (OverflowError, ZeroDivisionError):
        wanted = math.nan
    assume(isinstance(wanted, float) and math.isfinite(wanted) and abs(wanted) < 1e9)
    code = read_back(ElementTree.fromstring(f"<mrow>{drawn(tree)}</mrow>"))
    names = {**AT, "e": math.e, "sqrt": np.sqrt, "log": np.log, "LogPower": LogPower}
    with np.errstate(all="ignore"):
        assert eval(code, names) == pytest.approx(wanted, rel=1e-6, abs=1e-9), code


@pytest.mark.parametrize(
    ("text", "names", "shown"),
    [
        ("2·E F(w) - F(v)", ["E F(w) - F(v)"], "2(EF(w)−F(v))"),  # one quantity, whatever its name looks like
        ("2·‖w-v‖", ["‖w-v‖"], "2‖w−v‖"),
        ("‖θ°‖^2", ["‖θ°‖"], "‖θ∘‖2"),
        ("s°^2", ["s°"], "(s∘)2"),
        ("E ‖g_C,R‖ + FW-gap", ["E ‖g_C,R‖", "FW-gap"], "E‖gC,R‖+FW-gap"),
        ("Δ_(t+1)^2 ≤ x", ["Δ_(t+1)", "x"], "Δt+12≤x"),
        ("≤ x + y", ["x", "y"], "≤x+y"),
        ("2·(-1 + x)", ["x"], "2(x−1)"),
        ("sqrt(2)·sqrt(x)", ["x"], "2x"),
        ("x < y", ["x", "y"], "x<y"),
    ],
)
def test_what_is_shown(text: str, names: list[str], shown: str) -> None:
    found = mathml(text, names)
    assert found is not None
    letters = "".join(ElementTree.fromstring(found).itertext())
    assert re.sub(r"[\s\u2061\u2062]", "", letters) == shown
    assert ElementTree.fromstring(found).attrib["title"] == text


def test_every_name_is_well_formed() -> None:
    for row in TABLE.values():
        root = ElementTree.fromstring(name_as_mathml(row.printed))
        for script in [*root.iter("msub"), *root.iter("msup")]:
            assert len(script) == 2, row.printed
