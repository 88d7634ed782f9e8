"""Solvers by the stem of their file, found by walking the themes' folders: adding a file registers it."""

from __future__ import annotations

import importlib.util
import inspect
import pkgutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from dpcheck.bounds.registry import modules_below
from dpcheck.solver import Solver

SOLVERS = "dpcheck.solvers"


@lru_cache(maxsize=1)
def solvers() -> Mapping[str, type[Solver]]:
    """Every concrete solver by the stem of its file."""
    found = {stem: solver_in(module) for _, stem, module in modules_below(importlib.import_module(SOLVERS))}
    return {stem: solver for stem, solver in found.items() if solver is not None}


def solver_in(module: ModuleType) -> type[Solver] | None:
    """The solver that a file defines, if it does."""
    own = (v for v in vars(module).values() if inspect.isclass(v) and v.__module__ == module.__name__)
    return next((value for value in reversed([*own]) if issubclass(value, Solver)), None)


def solver_named(stem: str) -> type[Solver] | None:
    """The solver of that stem, without importing the others; None if there is no such file, or no solver in it."""
    for theme in pkgutil.iter_modules([str(Path(__file__).parent)]):
        name = f"{SOLVERS}.{theme.name}.{stem}"
        if stem.isidentifier() and theme.ispkg and importlib.util.find_spec(name) is not None:
            return solver_in(importlib.import_module(name))
    return None


def class_named(name: str) -> type[Solver] | None:
    """The solver class of that name; only the file that defines it is imported."""
    for file in sorted(Path(__file__).parent.glob("*/*.py")):
        if f"\nclass {name}(" in file.read_text(encoding="utf-8"):
            found = solver_named(file.stem)
            if found is not None and found.__name__ == name:
                return found
    return None
