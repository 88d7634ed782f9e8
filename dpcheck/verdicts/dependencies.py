"""What a verdict depends on: the files of its evidence and all that these import, read from the sources.

Imports count wherever they stand in a file, but for those that serve type checkers alone, and for the late ones of a
package's face (`dpcheck.datasets.load`): these serve who asks the package for a name, not who imports the package.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache

from dpcheck.bounds.index import LIBRARY, File, closure, digest_of, path_of

JUDGE = "dpcheck.verdicts.judging"  # runs the checks of every claim
CITATIONS = "dpcheck.bounds.proving.citations"  # the check that a citation brings
WALKERS = {"dpcheck.bounds.registry", "dpcheck.solvers.finding"}  # who imports one of these may look at any claim
BY_NAME = {"dpcheck.bounds.proving.reasons"}  # but this looks up what its claim cites, which counts in any case


def files_below(start: Iterable[str]) -> dict[str, File]:
    """These modules and all that they import, as they stand now."""
    found: dict[str, File] = {}
    left = list(start)
    while left:
        module = left.pop()
        digest = digest_of(module)
        if module not in found and digest is not None:
            found[module] = File(digest, imports_of(module))
            left.extend(found[module].imports)
    return dict(sorted(found.items()))


@cache
def imports_of(module: str) -> tuple[str, ...]:
    """The modules of this package that a file imports, with the packages these stand in, which run as well."""
    path = path_of(module)
    assert path is not None
    face = path.name == "__init__.py"
    named = set(module_names(ast.parse(path.read_bytes()).body, late=not face)) | {module}
    within = {name for name in named if name.split(".")[0] == "dpcheck"}
    parents = {name.rsplit(".", up)[0] for name in within for up in range(1, name.count(".") + 1)}
    return tuple(sorted(name for name in (within | parents) - {module} if path_of(name) is not None))


def module_names(body: Iterable[ast.AST], late: bool) -> Iterator[str]:
    """Whatever is named in an import: `from a import b` names a and a.b, of which one at least is a module."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None, "imports of this package are absolute"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from module_names(node.orelse, late)
        elif late or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from module_names(ast.iter_child_nodes(node), late)


def reads_all_claims(modules: Iterable[str], files: Mapping[str, File]) -> bool:
    """Whether checks of these modules may look at any claim: they, or the engine that they use, import a registry."""
    engine = {name: file for name, file in files.items() if not name.startswith(f"{LIBRARY}.")}
    return any(WALKERS & set(engine[name].imports) for name in closure(modules, engine) - WALKERS - BY_NAME)


def content(depends: Collection[str], files: Mapping[str, File]) -> str:
    """One short name for the content of these files and of all that they import."""
    lines = (f"{name} {files[name].digest}" for name in sorted(closure(depends, files)))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]
