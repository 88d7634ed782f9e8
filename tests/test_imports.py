"""No module imports, at its top or late, another that imports it in turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import grimp
import pytest


def in_circles(imports: Mapping[str, Iterable[str]]) -> set[str]:
    """The modules from which a chain of imports leads back to themselves, or to others that do."""
    left = {module: set(names) for module, names in imports.items()}
    while True:
        done = {module for module, names in left.items() if not names & left.keys()}
        if not done:
            return set(left)
        left = {module: names for module, names in left.items() if module not in done}


@pytest.mark.parametrize(
    ("imports", "found"), [({"a": "bc", "b": "c", "c": ""}, ""), ({"a": "b", "b": "a", "c": ""}, "ab")]
)
def test_a_circle_is_found(imports: Mapping[str, Iterable[str]], found: str) -> None:
    """And a chain is none."""
    assert in_circles(imports) == {*found}


def test_no_imports_go_in_a_circle() -> None:
    """Imports inside functions count; those for type checkers alone do not."""
    graph = grimp.build_graph("dpcheck", exclude_type_checking_imports=True)
    assert in_circles({name: graph.find_modules_directly_imported_by(name) for name in graph.modules}) == set()
