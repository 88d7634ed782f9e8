"""Hooks of the documentation site (mkdocs.yml): the pages that are made of something else.

README is the home page, the other pages of the root have a place, notebooks become pages, and the reference is made of
the public names and of the command line's parser: none of it is written twice.
"""

from __future__ import annotations

import argparse
import inspect
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

from dpcheck.cli.main import main
from tools.pages.notebooks import as_markdown

ROOT = Path(__file__).resolve().parents[2]
ROOT_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "reporting.md",
    "CHANGELOG.md": "changes.md",
}
NOTEBOOKS = {f"examples/{stem}.ipynb": f"notebooks/{stem}.md" for stem in ("audit", "theory")}
LINK = re.compile(r"(?<=\]\()(?P<target>[^)#:]+)(?=[)#])")
NAMED_IN_MENU = re.compile(r"^ +- .*: (\S+\.md)$", re.MULTILINE)
CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)
BREAKABLE = re.compile(r"(?<![<&])(?:[·(]|(?<=\w)[./_](?=[^\W\d]))(?=[^<]*<)(?![^<]*>)")  # in text, not in tags
BROWSER = "verdict-browser.html"
TO_BROWSER = f'<a href="{BROWSER}">Search and filter them</a>, with the evidence of each.'
KINDS = (inspect.isfunction, inspect.isclass)  # in this order: what one calls comes first
LOADED_FROM_ELSEWHERE = re.compile(r"""<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)=["'](?:https?:)?//[^>]*>""")
REFERENCE = {  # by the beginning of the module that defines a name: the page it is on, the first that fits
    "dpcheck.audits": "Audits",
    "dpcheck.report": "Audits",  # an audit as a page
    "dpcheck.testing": "Tests",
    "dpcheck.bounds.language.guarantees": "Guarantees",
    "dpcheck.bounds.language.errors": "Errors",
    "dpcheck.bounds": "Claims",
    "dpcheck.theory": "Claims",
    "dpcheck.problems": "Problems",
    "dpcheck.solver": "Solvers",  # and dpcheck.solvers
    "dpcheck.estimators": "Estimators",
    "dpcheck.families": "Estimators",  # functions that fit in one call
    "dpcheck.datasets": "Data sets",
    "dpcheck.adapters": "Adapters",
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Headings have the anchors that they have where repositories are read, so that links work in both."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify(case="lower")
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is not in docs/."""
    made = {to: (ROOT / name).read_text(encoding="utf-8") for name, to in ROOT_PAGES.items()}
    made |= {to: as_markdown(ROOT / name) for name, to in NOTEBOOKS.items()}
    made |= {"reference/command-line.md": command_reference(), **python_reference()}
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    named = set(NAMED_IN_MENU.findall((ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    others = [file.src_uri for file in files.documentation_pages() if file.src_uri not in named]
    config.nav = [*(config.nav or []), {"More": others}] if others else config.nav  # a new page is not lost
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to files of the repository become links to their pages."""
    name = page.file.src_uri
    origin = next((source for source, to in (ROOT_PAGES | NOTEBOOKS).items() if to == name), f"docs/{name}")

    def moved(found: re.Match[str]) -> str:
        target = (ROOT / origin).parent.joinpath(found["target"]).resolve()
        if not target.is_relative_to(ROOT):
            return found["target"]
        inside = target.relative_to(ROOT).as_posix()
        page_of_it = (ROOT_PAGES | NOTEBOOKS).get(inside, inside.removeprefix("docs/"))
        return Path(*[".."] * name.count("/"), page_of_it).as_posix()

    text = LINK.sub(moved, markdown)
    return text.replace("\n\n", f"\n\n{TO_BROWSER}\n\n", 1) if name == "verdicts.md" else text


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Long ids and formulas in tables may be broken, at a sign and never inside a word."""
    return CELL.sub(lambda cell: BREAKABLE.sub(r"\g<0><wbr>", cell[0]), html)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """A page must need nothing from elsewhere."""
    loads = LOADED_FROM_ELSEWHERE.search(output)
    if loads:
        raise PluginError(f"{page.file.src_uri} loads {loads[0]}: the site must work offline")
    return output


def on_post_build(config: MkDocsConfig) -> None:
    """The verdicts once more, to be searched and filtered."""
    page = Path(config.site_dir) / BROWSER
    if main(["verify", "--recorded", "--html", str(page)]) != 0:
        raise PluginError(f"{page} could not be written")


# Reference -----------------------------------------------------------------------------------------
def python_reference() -> dict[str, str]:
    """Every public name on the page of its room: a new one appears by itself."""
    pages: dict[str, list[str]] = {}
    for path in public_names():
        title = next((title for start, title in REFERENCE.items() if path.startswith(start)), "Other names")
        pages.setdefault(title, [f"# {title}"]).append(f"::: {path}")
    return {f"reference/{title.lower().replace(' ', '-')}.md": "\n\n".join(text) for title, text in pages.items()}


def public_names() -> list[str]:
    """Where each class, function and adapter is defined."""
    import dpcheck
    from dpcheck import adapters, datasets, estimators
    from dpcheck.solvers.finding import solvers

    names, rooms = [getattr(dpcheck, name) for name in dpcheck.__all__], [estimators, datasets]
    values = [value for value in names if not (inspect.ismodule(value) and value.__name__.count(".") == 1)]  # no rooms
    values += [getattr(room, name) for room in rooms for name in room.__all__] + list(solvers().values())
    found = [f"{v.__module__}.{v.__qualname__}" for kind in KINDS for v in values if kind(v)]
    found += [v.__name__ for v in values if inspect.ismodule(v)]
    return [*found, *(f"dpcheck.adapters.{library}" for library in adapters.LIBRARIES)]


def command_reference() -> str:
    """Each command with its options, as its own --help has them."""
    from dpcheck.cli.parser import build_parser

    parser = build_parser()
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    about = {action.dest: action.help or "" for action in commands._choices_actions}
    text = ["# Command line", "Made from the parser: `dpcheck COMMAND --help` says the same."]
    for name, command in commands.choices.items():
        text += [f"## dpcheck {name}", f"{about.get(name, '')}", f"```text\n{usage_of(command)}\n```"]
    return "\n\n".join(text) + "\n"


def usage_of(command: argparse.ArgumentParser) -> str:
    """Its help at one width, whatever the terminal."""
    own: Any = command.formatter_class
    command.formatter_class = lambda prog: own(prog, width=88, max_help_position=30)
    return command.format_help().strip()
