"""The index of claims: the file each stands in, and every file that a verdict may depend on, with what it imports.

`dpcheck verify --record` writes it. Read without any mathematics, so that one claim is found without the others; where
a file has changed since, `changed` says so and the folders are walked instead.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
CLAIMS, FILES = "claims.json", "files.json"
PACKAGE = FOLDER.parents[1]  # dpcheck itself, in a checkout and where it is installed
LIBRARY = "dpcheck.bounds.library"


@dataclass(frozen=True)
class File:
    """A source file: the digest of its text, and the modules of this package that it imports."""

    digest: str
    imports: tuple[str, ...]


@lru_cache(maxsize=1)
def claims() -> Mapping[str, str]:
    """The module that each claim stands in, in the order of a walk; none if the index is missing or damaged."""
    if read(FILES).get(CLAIMS) != text_digest(FOLDER / CLAIMS):
        return {}
    return {claim_id: f"{LIBRARY}.{module}" for module, ids in read(CLAIMS).items() for claim_id in ids}


@lru_cache(maxsize=1)
def files() -> Mapping[str, File]:
    """Every file that a verdict may depend on, by module; none if the index is missing or damaged."""
    found = {}
    for module, line in read(FILES).items():
        if module != CLAIMS:
            digest, *imports = str(line).split() or [""]
            found[module] = File(digest, tuple(imports))
    return found


def changed(known: Mapping[str, File], folders: Iterable[str] = (LIBRARY,)) -> set[str]:
    """The modules of an index whose files have changed, and those that are new one folder below these packages."""
    new = {module for package in folders for module in modules_in(package)} - known.keys()
    return new | {module for module, file in known.items() if digest_of(module) != file.digest}


@lru_cache(maxsize=1)
def tells_all_claims() -> bool:
    """Whether no file of theory has changed since the index was written: then its claims are all there are."""
    theory = {module: file for module, file in files().items() if module.startswith("dpcheck.bounds")}
    return len(claims()) > 0 and not changed(theory)


# Files ---------------------------------------------------------------------------------------------
def read(name: str) -> dict[str, Any]:
    """One file of the index."""
    try:
        found = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def path_of(module: str) -> Path | None:
    """The source of a module or package of dpcheck, if there is one. Nothing is imported."""
    base = PACKAGE.joinpath(*module.split(".")[1:])
    return next((path for path in (base.with_name(f"{base.name}.py"), base / "__init__.py") if path.is_file()), None)


def modules_in(package: str) -> list[str]:
    """The algorithms' files: one folder below a package, in order of name."""
    found = PACKAGE.joinpath(*package.split(".")[1:]).glob("[!_]*/*.py")
    return sorted(f"{package}.{path.parent.name}.{path.stem}" for path in found if path.stem != "__init__")


def digest_of(module: str) -> str | None:
    """A short name for the source of a module, if there is one."""
    path = path_of(module)
    return None if path is None else text_digest(path)


def text_digest(path: Path) -> str:
    """A short name for a text, whatever its line ends; empty if there is none."""
    try:
        return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()[:16]
    except OSError:
        return ""


def closure(start: Iterable[str], known: Mapping[str, File]) -> set[str]:
    """The modules, what they import, what those import, and so on."""
    found: set[str] = set()
    left = [module for module in start if module in known]
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            left.extend(name for name in known[module].imports if name in known)
    return found
