"""The claims at a glance, and what each verdict depends on, kept between runs.

A row holds what is shown of a claim and the content it rests on: the engine, the claim's own file, the solver files
that attach checks to it, and the algorithms' files that these import or whose claims they name. A run without changes
reads the rows and imports no mathematics; a change in one algorithm's file leaves the verdicts of the others standing.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpcheck.bounds.registry import Entry

THEMES = ("dpcheck.bounds.library", "dpcheck.solvers", "dpcheck.evidence")  # below these: one folder per theme
LIBRARY = THEMES[0]
HOME = Path(__file__).parents[1]
ONLY_SHOWS = ("dpcheck.cli", "dpcheck.report")  # and what begins so: no verdict depends on them
LIBRARIES = ("numpy", "scipy", "sympy", "mpmath", "dp-accounting", "scikit-learn", "hypothesis")
SLOW = {"worst-case": 4, "rate": 3, "audit": 2, "accountant": 2, "property": 1}  # who goes first in a parallel run


@dataclass(frozen=True)
class Row:
    """What is shown of a claim, and the content its verdict depends on."""

    id: str
    theme: str
    algorithm: str
    document: str
    place: str
    kind: str
    statement: str
    says: str
    corrects: str | None
    cites: tuple[str, ...]
    weight: int
    content: str

    @property
    def source(self) -> str:
        return f"{self.document}, {self.place}"


@lru_cache(maxsize=1)
def catalogue() -> Mapping[str, Row]:
    """Every claim by id, in the order of the registry: as kept if no file has changed, or else made anew."""
    files = sources()
    key = digest([libraries(), *(f"{name} {text}" for name, text in sorted(files.items()))])
    kept = cache_folder() / "catalogue.json"
    try:
        raw = json.loads(kept.read_text(encoding="utf-8"))
        if raw["key"] == key:
            return {row["id"]: Row(**{**row, "cites": tuple(row["cites"])}) for row in raw["rows"]}
    except (OSError, ValueError, TypeError, KeyError):
        pass  # none yet, or damaged: it costs the time to make it
    rows = made(files)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(kept, json.dumps({"key": key, "rows": [asdict(row) for row in rows.values()]}))
    except OSError:
        pass  # a read-only home costs time, not the run
    return rows


def made(files: Mapping[str, str]) -> dict[str, Row]:
    """The rows from the registries themselves."""
    from dpcheck.bounds.registry import entries
    from dpcheck.registry import checks_of

    uses = uses_of(files, {claim_id: home(entry) for claim_id, entry in entries().items()})
    engine = digest([libraries(), *(f"{name} {files[name]}" for name in sorted(files) if is_engine(name))])
    attached = files_of_checks()
    rows = {}
    for claim_id, entry in entries().items():
        claim = entry.claim
        checks = checks_of(entry)
        start = [home(entry), *attached.get(claim_id, [])]
        if any(reads_all_claims(type(check).__module__) for check in checks):
            start += [name for name in uses if name.startswith(LIBRARY)]
        reached = sorted(closure(start, uses))
        rows[claim_id] = Row(
            id=claim_id,
            theme=entry.theme,
            algorithm=entry.algorithm,
            document=claim.source.document,
            place=claim.source.place,
            kind=str(claim.kind),
            statement=claim.text(),
            says=claim.says,
            corrects=claim.corrects,
            cites=tuple(c.id for c in claim.cites),
            weight=sum(SLOW.get(check.kind, 0) for check in checks),
            content=digest([engine, *(f"{name} {files[name]}" for name in reached)]),
        )
    return rows


def home(entry: Entry) -> str:
    """The module that a claim stands in."""
    return f"{LIBRARY}.{entry.theme}.{entry.algorithm}"


def files_of_checks() -> dict[str, list[str]]:
    """The solver files that attach checks to a claim, by claim id."""
    import dpcheck.evidence
    import dpcheck.solvers
    from dpcheck.bounds.registry import modules_below

    found: dict[str, list[str]] = {}
    for _, _, module in (*modules_below(dpcheck.evidence), *modules_below(dpcheck.solvers)):
        for claim_id in getattr(module, "CHECKS", {}):
            found.setdefault(claim_id, []).append(module.__name__)
    return found


# Content -------------------------------------------------------------------------------------------
def sources() -> dict[str, str]:
    """The digest of every source file of the three rooms, by module name."""
    found = {}
    for room in (HOME, HOME / "bounds", HOME / "audits"):  # the last two may be links, which are not walked into
        for file in sorted(room.rglob("*.py")):
            parts = file.relative_to(HOME.parent).with_suffix("").parts
            found[".".join(parts).removesuffix(".__init__")] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def is_theme(module: str) -> bool:
    """Whether the module is an algorithm's file: one folder below the themes' parents."""
    above, _, _ = module.rpartition(".")
    return any(above.startswith(f"{parent}.") and above.count(".") == parent.count(".") + 1 for parent in THEMES)


def is_engine(module: str) -> bool:
    """Whether any verdict may depend on the module: neither an algorithm's file nor one that only shows."""
    return not is_theme(module) and not module.startswith(ONLY_SHOWS)


def uses_of(files: Iterable[str], homes: Mapping[str, str]) -> dict[str, set[str]]:
    """The algorithms' files that each of them uses: by an import, or by naming a claim of theirs."""
    themes = {name for name in files if is_theme(name)}
    uses = {}
    for name in themes:
        tree = parsed(name)
        words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        named = {home for claim_id, home in homes.items() if claim_id in words and name.startswith(LIBRARY)}
        uses[name] = (set(imported(tree)) | named) & themes
    return uses


@lru_cache
def reads_all_claims(module: str) -> bool:
    """Whether the checks of a module may look at any claim: it imports the registry."""
    return "dpcheck.bounds.registry" in set(imported(parsed(module)))


def parsed(module: str) -> ast.Module:
    """The syntax tree of a module's file."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return ast.parse(Path(spec.origin).read_bytes())


def imported(tree: ast.Module) -> Iterator[str]:
    """Every module that a file names in an import, wherever in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def closure(start: Iterable[str], uses: Mapping[str, set[str]]) -> set[str]:
    """The modules, what they import, what those import, and so on."""
    found: set[str] = set()
    left = [name for name in start if name in uses]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left.extend(uses[name])
    return found


@lru_cache(maxsize=1)
def libraries() -> str:
    """Python and the libraries that verdicts depend on, with their versions."""
    versions = [f"python {platform.python_version()}"]
    for name in LIBRARIES:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{name} absent")
    return ", ".join(versions)


def digest(parts: Iterable[str]) -> str:
    """One short name for content."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


# Files ---------------------------------------------------------------------------------------------
def cache_folder() -> Path:
    """$DPCHECK_CACHE, or the user's cache folder."""
    home = os.environ.get("DPCHECK_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "dpcheck"


def write_whole(path: Path, text: str) -> None:
    """All or nothing: a reader never sees half a file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)
