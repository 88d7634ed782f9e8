"""Every claim by its id. One is found by the index, in its own file; all of them by walking the theme folders.

Adding a file is all it takes to register its claims.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

from dpcheck.bounds import index
from dpcheck.bounds.language.claim import Claim, Rate
from dpcheck.bounds.language.errors import InvalidInput, UnknownName


@dataclass(frozen=True)
class Entry:
    """A claim and the algorithm file it stands in."""

    claim: Claim
    theme: str
    algorithm: str


def modules_below(package: ModuleType) -> Iterator[tuple[str, str, ModuleType]]:
    """(theme, stem, module) for every file one folder below the package, in order of name."""
    for theme in pkgutil.iter_modules(package.__path__):
        if theme.ispkg and not theme.name.startswith("_"):
            folder = importlib.import_module(f"{package.__name__}.{theme.name}")
            for file in pkgutil.iter_modules(folder.__path__):
                yield theme.name, file.name, importlib.import_module(f"{folder.__name__}.{file.name}")


def library_files() -> Iterator[tuple[str, str, ModuleType]]:
    """(theme, stem, module) for every file of the library."""
    return modules_below(importlib.import_module(index.LIBRARY))


@lru_cache(maxsize=1)
def entries() -> Mapping[str, Entry]:
    """All claims by id, by walking: by theme, then file, then in the order of the source."""
    found: dict[str, Entry] = {}
    for theme, stem, module in library_files():
        for claim in claims_of(module):
            known = found.setdefault(claim.id, Entry(claim, theme, stem))
            if known.claim is not claim:
                raise InvalidInput("claim id", claim.id, "used once", f"It also stands in {known.algorithm}.py.")
    must_fit({claim_id: entry.claim for claim_id, entry in found.items()})
    return found


def must_fit(known: Mapping[str, Claim]) -> None:
    """Refuse what a claim by itself cannot show: corrections and citations of nothing, and a silent gap in units."""
    for claim in known.values():
        if claim.corrects is not None and claim.corrects not in known:
            raise InvalidInput(f"{claim.id} corrects", claim.corrects, "a known claim", "Check the id.")
        admitted = claim.ignores_units or any(getattr(check, "admits_unit_gap", False) for check in claim.checks)
        if not admitted and claim.unit_gap is not None:
            remedy = "If it is printed so, add the check Units(); for a table with units dropped, ignores_units=True."
            raise InvalidInput(f"units of {claim.id}", claim.unit_gap, "the same on both sides", remedy)
    must_be_sound(known)


def must_be_sound(known: Mapping[str, Claim]) -> None:
    """Refuse citations of unknown claims, of symbols these do not have, and in a circle."""
    for claim in known.values():
        for cites in claim.cites:
            if cites.id not in known:
                raise UnknownName(f"{claim.id} cites", cites.id, "the id of a known claim", "Check the spelling.")
            strangers = sorted(str(s) for s in cites.where if s not in known[cites.id].symbols)
            if strangers:
                what = f"what {claim.id} replaces in {cites.id}"
                has = ", ".join(sorted(str(s) for s in known[cites.id].symbols))
                raise InvalidInput(what, ", ".join(strangers), f"among its symbols ({has})", "Leave it out.")
    settled: set[str] = set()
    for claim_id in known:
        _walk(claim_id, (), known, settled)


def _walk(claim_id: str, path: tuple[str, ...], known: Mapping[str, Claim], settled: set[str]) -> None:
    if claim_id in path:
        circle = " -> ".join([*path[path.index(claim_id) :], claim_id])
        raise InvalidInput("citations", circle, "free of circles", "A claim cannot rest on itself: drop one of them.")
    if claim_id not in settled:
        for cites in known[claim_id].cites:
            _walk(cites.id, (*path, claim_id), known, settled)
        settled.add(claim_id)


def claims_of(module: ModuleType) -> list[Claim]:
    """The claims a file defines, in its order; those it imports stand in another file."""
    return [v for v in vars(module).values() if isinstance(v, Claim) and v.module == module.__name__]


@dataclass(frozen=True, repr=False)
class StatementParts(Sequence[Claim]):
    """The parts of a statement that was asked for by its common name, e.g. zhang17.theorem2: a sequence of claims.

    What all of them have in one way it has too; what each has in its own way is asked of one part.
    """

    id: str
    claims: Sequence[Claim]

    def __len__(self) -> int:
        return len(self.claims)

    def __getitem__(self, which: Any) -> Any:
        """By number, or by what follows the common name: `parts["pure"]`."""
        if not isinstance(which, str):
            return self.claims[which]
        found = next((c for c in self.claims if which in (c.id, c.id.removeprefix(f"{self.id}."))), None)
        if found is None:
            names = [c.id.removeprefix(f"{self.id}.") for c in self.claims]
            raise UnknownName(f"part of {self.id}", which, f"one of {', '.join(names)}", "Check its spelling.")
        return found

    def __getattr__(self, name: str) -> Any:
        if not hasattr(Claim, name) and name not in Claim.__dataclass_fields__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        ids = ", ".join(c.id for c in self.claims)
        raise AttributeError(f"{self.id} has {len(self)} parts, each with its own {name}: {ids}. Name one of them.")

    def __repr__(self) -> str:
        return self.text()

    def text(self) -> str:
        """Each part's statement, a line each."""
        return "\n".join(f"{c.id}: {c.text()}" for c in self.claims)

    def latex(self) -> str:
        """The statements as LaTeX, one below the other."""
        rows = " \\\\ ".join(f"& {c.latex()}" for c in self.claims)
        return f"\\begin{{aligned}}{rows}\\end{{aligned}}"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:
        from dpcheck.bounds.language.notebook import html_of

        return html_of(self.claims)

    def _repr_markdown_(self) -> str:
        from dpcheck.bounds.language.notebook import markdown_of

        return markdown_of(self.claims)

    def pick(self, names: set[str]) -> Claim:
        """The part that uses the most of these names and no other symbol."""
        fitting = [c for c in self.claims if {str(s) for s in c.formula.free_symbols} <= names]
        if not fitting:
            ids = ", ".join(c.id for c in self.claims)
            raise InvalidInput(
                self.id, sorted(names), f"enough for one of its parts ({ids})", "Name the part you mean."
            )
        return max(fitting, key=lambda c: (len(c.formula.free_symbols), isinstance(c.states, Rate)))

    def evaluate(self, **values: Any) -> Any:
        """The right-hand side of the part that these symbols belong to."""
        return self.pick(set(values)).evaluate(**values)

    def solve_for(self, symbol: str, **values: Any) -> Any:
        """The value of a symbol that brings the part these symbols belong to down to `error=`."""
        return self.pick({*values, symbol}).solve_for(symbol, **values)


class Library(Mapping[str, Claim]):
    """`bounds["zhang17.lemma2"]`: claims by id, each from its own file alone where the index tells which."""

    def entry(self, claim_id: str) -> Entry:
        """A claim and its file. Raises KeyError if there is none of that id."""
        return indexed(claim_id) or entries()[claim_id]

    def __getitem__(self, name: str) -> Any:
        found = indexed(name)
        if found is not None:
            return found.claim
        known = list(entries() if name in index.claims() else self)  # an index that is wrong of one may be of others
        if name in known:
            return self.entry(name).claim
        parts = [self.entry(key).claim for key in known if key.startswith(name + ".")]
        parts = [claim for claim in parts if claim.corrects is None]
        if parts and "." in name:
            return StatementParts(name, parts)
        raise unknown(name, known)

    def __iter__(self) -> Iterator[str]:
        return iter(index.claims() if index.tells_all_claims() else entries())

    def __len__(self) -> int:
        return sum(1 for _ in self)


def indexed(claim_id: str) -> Entry | None:
    """The claim from the file that the index names; none where the index, or the file, does not have it."""
    home = index.claims().get(claim_id)
    if home is None or index.path_of(home) is None:
        return None
    claim = next((claim for claim in claims_of(importlib.import_module(home)) if claim.id == claim_id), None)
    return None if claim is None else Entry(claim, *home.split(".")[-2:])


def unknown(name: str, known: Iterable[str]) -> UnknownName:
    """The error for a name that is no claim's, with the nearest ids."""
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else "`dpcheck claims` lists them."
    return UnknownName("claim", name, "the id of a known claim", hint)


library = Library()
