"""Formulas as MathML, read from the one line of text in which claims, hypotheses and proofs are kept.

Standard library only: a page is written without importing any mathematics. A text that is no formula in known symbols,
a hypothesis in words for example, is None: it is shown as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from itertools import pairwise

RELATIONS = {"=": "=", "≤": "≤", "≥": "≥", "<": "&lt;", ">": "&gt;"}
FUNCTIONS = ("sqrt", "log", "exp", "Max", "Min", "Abs", "erfc", "floor", "ceiling", "sin", "cos", "gamma", "O", "Ω")
CONSTANTS = {"pi": "π", "E": "e", "oo": "∞"}
NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")
WORD = re.compile(r"[A-Za-zΑ-Ωα-ω]+")
SIGNS = "()+-·/^,"
SCRIPTS = {"₀": ("sub", "0"), "₁": ("sub", "1"), "₂": ("sub", "2"), "₃": ("sub", "3"), "₊": ("sub", "+")}
SCRIPTS |= {"²": ("sup", "2"), "³": ("sup", "3"), "⁴": ("sup", "4"), "⁺": ("sup", "+")}
SCRIPTS |= {"°": ("sup", "∘"), "*": ("sup", "∗"), "ᵐ": ("sup", "m"), "ᶜ": ("sup", "c"), "ᵈ": ("sup", "d")}
WORD_OR_LETTER = re.compile(r"[A-Za-z]{2,}(-[a-z]{2,})?|.[\u0300-\u036f]*")
SUBSCRIPT = re.compile(r"[A-Za-z]{2,}|[A-Z],[A-Z]|\d+|.")
OPENING, CLOSING = "([{⟨", ")]}⟩"
BARS = "‖|"
MINUS = "−"
TIMES = "<mo lspace='.14em'>\u2062</mo>"  # invisible, but read aloud
PRIME = "<mo lspace='0' rspace='0'>′</mo>"  # raised by itself, as fonts have it
ONE = re.compile(r"<(m[in])\b[^>]*>[^<]*</\1>")
SLASH = "<mo lspace='0' rspace='0'>/</mo>"
APPLIED = "<mo>\u2061</mo>"


class NoFormula(ValueError):
    """The text is none."""


# What is written -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class Node:
    """A part of a formula: `kind` says what joins its parts, `text` is the number, the name or the function."""

    kind: str  # number, name, constant, call, power, fraction, product, sum, negative, relation
    text: str = ""
    parts: tuple[Node, ...] = ()


def formula(text: str, names: Iterable[str]) -> Node:
    """The tree of a formula whose symbols are printed as `names`; NoFormula if it is none."""
    reader = Reader(tokens(text, names))
    found = reader.relation()
    if reader.at < len(reader.tokens):
        raise NoFormula(text)
    return found


def tokens(text: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of kind and text. Of the names that fit the longest counts: D_F is not D."""
    known = sorted({name for name in names if name}, key=len, reverse=True)
    found, at = [], 0
    while at < len(text):
        if text[at] == " ":
            at += 1
            continue
        name = next((n for n in known if text.startswith(n, at) and ends_there(n, text[at + len(n) :])), None)
        number, word = NUMBER.match(text, at), WORD.match(text, at)
        if name is not None:
            found.append(("name", name))
        elif number is not None:
            found.append(("number", number[0]))
        elif text[at] in RELATIONS or text[at] in SIGNS:
            found.append(("sign", text[at]))
        elif word is not None and word[0] in FUNCTIONS and text.startswith("(", word.end()):
            found.append(("function", word[0]))
        elif word is not None and word[0] in CONSTANTS:
            found.append(("constant", word[0]))
        else:
            raise NoFormula(text)
        at += len(found[-1][1])
    return found


def ends_there(name: str, rest: str) -> bool:
    """Whether a name ends where it does: the n of `n₀` and the g of `gradients` do not."""
    if not rest:
        return True
    return not (rest[0].isalpha() or rest[0] in "_'[" or rest[0] in SCRIPTS)


class Reader:
    """Recursive descent: relations of sums of products of powers."""

    def __init__(self, found: list[tuple[str, str]]) -> None:
        self.tokens, self.at = found, 0

    def next(self, signs: Iterable[str]) -> str:
        """The next sign if it is one of these, else nothing."""
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "sign" and self.tokens[self.at][1] in signs:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return ""

    def must(self, sign: str) -> None:
        if not self.next(sign):
            raise NoFormula(sign)

    def relation(self) -> Node:
        parts, signs = [self.sum()], []
        while sign := self.next(RELATIONS):
            signs.append(sign)
            parts.append(self.sum())
        return Node("relation", " ".join(signs), tuple(parts)) if signs else parts[0]

    def sum(self) -> Node:
        parts = [self.product()]
        while sign := self.next("+-"):
            term = self.product()
            parts.append(Node("negative", parts=(term,)) if sign == "-" else term)
        return Node("sum", parts=tuple(parts)) if len(parts) > 1 else parts[0]

    def product(self) -> Node:
        if self.next("-"):
            return Node("negative", parts=(self.product(),))
        found = self.power()
        while sign := self.next("·/"):
            factor = self.power()
            if sign == "/":
                found = Node("fraction", parts=(found, factor))
            else:
                before = found.parts if found.kind == "product" else (found,)
                found = Node("product", parts=(*before, factor))
        return found

    def power(self) -> Node:
        base = self.atom()
        return Node("power", parts=(base, self.power())) if self.next("^") else base

    def atom(self) -> Node:
        if self.next("("):
            found = self.relation()
            self.must(")")
            return found
        if self.at >= len(self.tokens):
            raise NoFormula("nothing where a number or a name should be")
        kind, text = self.tokens[self.at]
        if kind == "sign":
            raise NoFormula(text)
        self.at += 1
        if kind != "function":
            return Node(kind, text)
        self.must("(")
        parts = [self.relation()]
        while self.next(","):
            parts.append(self.relation())
        self.must(")")
        return Node("call", text, tuple(parts))


# What is shown -------------------------------------------------------------------------------------
def mathml(text: str, names: Iterable[str]) -> str | None:
    """The formula as pieces of MathML that may stand on lines of their own: a narrow page breaks between them.

    A step of a proof, which begins with its sign, is one too: `≤ x + y`.
    """
    sign = text[0] if text[:1] in RELATIONS else ""
    try:
        first, *rest = broken(formula(text.removeprefix(sign), names))
    except NoFormula:
        return None
    pieces = [(leading(RELATIONS[sign]) if sign else "") + first, *rest]
    shown = " ".join(f"<math>{piece}</math>" for piece in pieces)
    return f"<span class='formula' title='{escape(text)}'>{shown}</span>"


def name_as_mathml(name: str) -> str:
    """One symbol."""
    return f"<math>{named(name)}</math>"


def broken(tree: Node) -> list[str]:
    """The formula in pieces, cut before the signs of its relations and of the sums that stand open."""
    if tree.kind == "relation":
        found = broken(tree.parts[0])
        for sign, part in zip(tree.text.split(), tree.parts[1:], strict=True):
            begun, *rest = broken(part)
            found += [f"{leading(RELATIONS[sign])}{begun}", *rest]
        return found
    if tree.kind == "sum":
        first, *others = positive_first(tree.parts)
        return [drawn(first), *(signed(part, leading) for part in others)]
    if tree.kind == "call" and tree.text in ("O", "Ω") and tree.parts[0].kind == "sum":
        begun, *middle, last = broken(tree.parts[0])
        return [f"<mi>{tree.text}</mi><mo>(</mo>{begun}", *middle, f"{last}<mo>)</mo>"]
    return [drawn(tree)]


def positive_first(terms: tuple[Node, ...]) -> list[Node]:
    """As people write sums: n - 1, not -1 + n."""
    first = next((i for i, term in enumerate(terms) if term.kind != "negative"), 0)
    return [terms[first], *terms[:first], *terms[first + 1 :]]


def leading(sign: str) -> str:
    """A sign that begins a piece: the space before it is the one between the pieces."""
    return f"<mo form='infix' lspace='0' rspace='.3em'>{sign}</mo>"


def plain(sign: str) -> str:
    """A sign between what it joins."""
    return f"<mo>{sign}</mo>"


def signed(part: Node, sign: Callable[[str], str] = plain, small: bool = False) -> str:
    """A term of a sum after the first, with its sign."""
    if part.kind == "negative":
        return f"{sign(MINUS)}{inside(part.parts[0], 'product', small)}"
    return f"{sign('+')}{drawn(part, small)}"


LEVELS = ("relation", "sum", "negative", "product", "fraction", "power", "call", "name", "constant", "number")


def inside(part: Node, least: str, small: bool = False) -> str:
    """A part where only what binds at least as strongly may stand without brackets."""
    loose = LEVELS.index(part.kind) < LEVELS.index(least)
    if part.kind == "name":
        loose = is_compound(part.text, raised=least == "name")
    if part.kind == "call" and least == "name":
        loose = part.text == "exp"
    shown = drawn(part, small)
    return f"<mrow><mo>(</mo>{shown}<mo>)</mo></mrow>" if loose else shown


def drawn(tree: Node, small: bool = False) -> str:
    """MathML of a formula; `small` is for exponents, where fractions are written with a slash."""
    parts = tree.parts
    match tree.kind:
        case "number":
            return f"<mn>{tree.text}</mn>"
        case "constant":
            return f"<mi mathvariant='normal'>{CONSTANTS[tree.text]}</mi>"
        case "name":
            return named(tree.text)
        case "relation":
            signs = (plain(RELATIONS[sign]) for sign in tree.text.split())
            return drawn(parts[0]) + "".join(s + drawn(p) for s, p in zip(signs, parts[1:], strict=True))
        case "sum":
            first, *others = positive_first(parts)
            return drawn(first, small) + "".join(signed(part, small=small) for part in others)
        case "negative":
            return f"<mo form='prefix'>{MINUS}</mo>{inside(parts[0], 'product', small)}"
        case "product":
            return multiplied(parts, small)
        case "fraction" if small:
            return inside(parts[0], "product", small) + SLASH + inside(parts[1], "power", small)
        case "fraction":
            return f"<mfrac>{row(drawn(parts[0]))}{row(drawn(parts[1]))}</mfrac>"
        case "power":
            return raised(*parts)
        case _:
            return called(tree.text, parts)


def row(shown: str) -> str:
    """What must be one element: a letter or a number is one already."""
    return shown if ONE.fullmatch(shown) else f"<mrow>{shown}</mrow>"


def multiplied(parts: tuple[Node, ...], small: bool) -> str:
    """Factors side by side, with a dot where digits or words would run together; roots beside each other are one."""
    factors: list[Node] = []
    for part in parts:
        if factors and is_root(part) and is_root(factors[-1]):
            both = (*split(factors[-1].parts[0]), *split(part.parts[0]))
            factors[-1] = Node("call", "sqrt", (Node("product", parts=both),))
        else:
            factors.append(part)
    shown = inside(factors[0], "product", small)
    for before, factor in pairwise(factors):
        dot = starts_with_digit(factor) or is_word(before) or is_word(factor)
        shown += plain("⋅") if dot else TIMES
        shown += inside(factor, "product", small)
    return shown


def is_root(part: Node) -> bool:
    return part.kind == "call" and part.text == "sqrt"


def split(part: Node) -> tuple[Node, ...]:
    return part.parts if part.kind == "product" else (part,)


def starts_with_digit(part: Node) -> bool:
    return part.kind == "number" or (part.kind in ("power", "product") and starts_with_digit(part.parts[0]))


def is_word(part: Node) -> bool:
    """Whether a name is of words, and stands without brackets."""
    wordy = (part.text.isalpha() and len(part.text) > 2) or " " in part.text
    return part.kind == "name" and wordy and not is_compound(part.text, raised=False)


def raised(base: Node, exponent: Node) -> str:
    """A power; of a logarithm the exponent stands before its argument."""
    power = row(drawn(exponent, small=True))
    if base.kind == "call" and base.text == "log":
        return f"<msup><mi>log</mi>{power}</msup>{bracketed(base.parts)}"
    return f"<msup>{row(inside(base, 'name'))}{power}</msup>"


def called(name: str, parts: tuple[Node, ...]) -> str:
    """Roots, exponentials and named functions."""
    if name == "sqrt":
        return f"<msqrt>{drawn(parts[0])}</msqrt>"
    if name == "exp":
        return f"<msup><mi mathvariant='normal'>e</mi>{row(drawn(parts[0], small=True))}</msup>"
    if name == "Abs":
        return f"<mrow><mo form='prefix'>|</mo>{drawn(parts[0])}<mo form='postfix'>|</mo></mrow>"
    return f"<mi>{name.lower() if name in ('Max', 'Min') else name}</mi>{APPLIED}{bracketed(parts)}"


def bracketed(parts: tuple[Node, ...]) -> str:
    inner = "<mo>,</mo>".join(drawn(part) for part in parts)
    return f"<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>"


# Names ---------------------------------------------------------------------------------------------
def is_compound(name: str, raised: bool) -> bool:
    """Whether a quantity's name needs brackets in a product: F(w_T) - F(ŵ) does, ‖w₀-ŵ‖ does not.

    Raised to a power so does one that has an exponent, or that begins with words.
    """
    depth, bars = 0, 0
    for letter in name:
        depth += (letter in OPENING) - (letter in CLOSING)
        bars += letter in BARS
        binding = raised and (letter == " " or SCRIPTS.get(letter, ("",))[0] == "sup")
        if depth == 0 and bars % 2 == 0 and (letter in "+-−·/" or binding):
            return True
    return False


def named(name: str) -> str:
    """A quantity's printed name: letters, words, subscripts, norms, brackets."""
    shown: list[str] = []
    at = 0
    while at < len(name):
        letter = name[at]
        at += 1
        if letter in "_^" and shown and at < len(name):
            script, at = script_at(name, at)
            kind = "sub" if letter == "_" else "sup"
            shown[-1] = f"<m{kind}>{shown[-1]}{named(script)}</m{kind}>"
        elif letter == "'" and shown:
            shown[-1] = f"<mrow>{shown[-1]}{PRIME}</mrow>"
        elif letter in SCRIPTS and shown:
            kind, script = SCRIPTS[letter]
            tag = "mn" if script.isdigit() else "mi"
            shown[-1] = f"<m{kind}>{shown[-1]}<{tag}>{script}</{tag}></m{kind}>"
        elif letter == " ":
            shown.append("<mspace width='0.25em'/>")
        elif letter.isdigit():
            shown.append(f"<mn>{letter}</mn>")
        elif letter.isalpha():
            word = matched(WORD_OR_LETTER, name, at - 1)
            at += len(word) - 1
            shown.append(f"<mi>{word}</mi>")
        else:
            shown.append(punctuation(letter, name[: at - 1]))
    return shown[0] if len(shown) == 1 else f"<mrow>{''.join(shown)}</mrow>"


def punctuation(letter: str, before: str) -> str:
    """A sign within a name; a minus between two things has its spaces."""
    if letter in "+-" and before.rstrip() and before.rstrip()[-1] not in OPENING:
        return plain(MINUS if letter == "-" else "+")
    sign = {"-": MINUS, "<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(letter, letter)
    return f"<mo lspace='0' rspace='0' stretchy='false'>{sign}</mo>"


def script_at(name: str, at: int) -> tuple[str, int]:
    """A subscript: a word, a sign, or what stands in brackets."""
    if name[at] in "({":
        end = name.find(")" if name[at] == "(" else "}", at)
        end = end if end > 0 else len(name)
        return name[at + 1 : end], end + 1
    word = matched(SUBSCRIPT, name, at)
    return word, at + len(word)


def matched(pattern: re.Pattern[str], text: str, at: int) -> str:
    found = pattern.match(text, at)
    assert found is not None  # the patterns take any letter
    return found[0]
