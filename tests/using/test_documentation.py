"""Pages say what is true: a block that prints otherwise is noticed, and what a program wrote is what it writes now."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError

from dpcheck.cli.parser import TAKES_REST, build_parser
from tools.pages import notebooks, picture, site
from tools.pages.blocks import PAGES, ROOT, Differs, pages, renewed
from tools.pages.doctests import fenced

BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in pages()}


def blocks(language: str) -> list[tuple[str, str]]:
    """(page, code) of every block in a language."""
    return [
        (page, b["code"]) for page, text in TEXTS.items() for b in BLOCK.finditer(text) if b["language"] == language
    ]


# Blocks --------------------------------------------------------------------------------------------
PAGE = """# A page

```python
# release.py
def exact_sum(data, rng, trials):
    return [data.sum()] * trials


print("it took 0.25 s, 0.123456789")
print({number})
```

```text
it took 7.5 s, 0.123456788
{shown}
```

```console
$ dpcheck bounds zhang17.lemma2 --n 100 --T 10 --L 1 --eta 1 --beta 1
zhang17.lemma2: Δ_T ≤ 3·L·T·η/n
Δ_T: {bound}
verdict: LOOSE
```
"""


def a_page(tmp_path: Path, number: int = 3, shown: int = 3, bound: str = "0.3") -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE.format(number=number, shown=shown, bound=bound), encoding="utf-8")
    return path


def run(path: Path) -> None:
    """As the tests of a page do."""
    for example in PAGES.parse(path).examples():
        example.evaluate()


def test_a_true_page_passes_and_is_renewed_to_itself(tmp_path: Path) -> None:
    """Seconds may differ, and the ninth digit."""
    path = a_page(tmp_path)
    run(path)
    assert renewed(path) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("falsified", [{"number": 4}, {"shown": 4}, {"bound": "0.300001"}])
def test_a_false_page_is_noticed_and_renewed(tmp_path: Path, falsified: dict[str, Any]) -> None:
    path = a_page(tmp_path, **falsified)
    with pytest.raises(Differs, match="tools/renew-pages"):
        run(path)
    path.write_text(renewed(path), encoding="utf-8")
    run(path)


def test_a_command_that_nobody_runs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("```console\n$ rm -r work\n```\n", encoding="utf-8")
    with pytest.raises(ValueError, match="Make it a bash block"):
        run(path)


@pytest.mark.parametrize(("page", "code"), blocks("bash"))
def test_commands_that_are_only_shown_are_understood(page: str, code: str) -> None:
    """Options that do not exist end the program."""
    parser = build_parser()
    for line in code.splitlines():
        program, *arguments = shlex.split(line, comments=True) or [""]
        if program == "dpcheck":
            asked, rest = parser.parse_known_args(arguments)
            assert not rest or asked.command in TAKES_REST, (page, line)


@pytest.mark.parametrize(("page", "code"), blocks("yaml"))
def test_settings_of_other_programs_are_well_formed(page: str, code: str) -> None:
    assert isinstance(yaml.safe_load(code), dict), page


def test_every_option_of_the_plugin_is_on_its_page(pytestconfig: pytest.Config) -> None:
    """And none that there is not."""
    known = {name for name in vars(pytestconfig.option) if name.startswith("dpcheck_")}
    text = TEXTS["docs/how-to/testing-in-ci.md"]
    assert known == {name[2:].replace("-", "_") for name in re.findall(r"--dpcheck-[a-z]+(?:-[a-z]+)*", text)}
    assert len(known) >= 4


# Notebooks and the picture -------------------------------------------------------------------------
@pytest.mark.parametrize("path", notebooks.paths(), ids=lambda path: path.stem)
def test_notebooks_show_what_comes_out(path: Path) -> None:
    """All cells ran, in order, without an error; run again, they say the same."""
    saved = nbformat.read(path, as_version=4)
    code = [cell for cell in saved.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert not any(output.output_type == "error" for cell in code for output in cell.outputs)
    assert notebooks.outputs_of(notebooks.run(path)) == notebooks.outputs_of(saved)


def test_another_number_in_a_notebook_is_another_output() -> None:
    """However little is left out of the comparison."""
    path = ROOT / "examples/audit.ipynb"
    saved, other = (nbformat.read(path, as_version=4) for _ in range(2))
    streams = [out for cell in other.cells for out in cell.get("outputs", []) if out.output_type == "stream"]
    streams[0].text = streams[0].text.replace("epsilon >= 1", "epsilon >= 2")
    assert notebooks.outputs_of(saved) != notebooks.outputs_of(other)


def test_the_picture_is_the_one_that_is_drawn() -> None:
    assert picture.PATH.read_text(encoding="utf-8") == picture.svg(), "tools/renew-pages audit.svg"


# The site ------------------------------------------------------------------------------------------
def page_at(place: str) -> Any:
    """As much of a page as the hooks ask for."""
    return SimpleNamespace(file=SimpleNamespace(src_uri=place))


def test_links_of_the_root_lead_to_pages() -> None:
    def moved(text: str, place: str) -> str:
        return site.on_page_markdown(text, page_at(place), None, None)  # type: ignore[arg-type]

    assert moved("[a](docs/how-to/neighbours.md#domains)", "index.md") == "[a](how-to/neighbours.md#domains)"
    assert moved("[a](CONTRIBUTING.md)", "index.md") == "[a](contributing.md)"
    assert moved("[a](../SECURITY.md) [b](validity.md)", "security.md") == "[a](reporting.md) [b](validity.md)"
    assert moved("[a](../auditing.md#which-event)", "how-to/neighbours.md") == "[a](../auditing.md#which-event)"
    assert moved("[a](https://example.org/x)", "index.md") == "[a](https://example.org/x)"
    assert site.BROWSER in moved("# Verdicts\n\nWritten by a program.\n", "verdicts.md")


def test_a_dead_link_or_anchor_is_refused(tmp_path: Path) -> None:
    """By our rules and by the words of our command, on two small pages."""
    ours = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    small = {"site_name": "small", "theme": "mkdocs", "plugins": [], "validation": ours["validation"]}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(small), encoding="utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/other.md").write_text("# Other\n\n## There\n", encoding="utf-8")
    command = re.search(r"-m (mkdocs build .*) \"\$@\"", (ROOT / "tools/docs").read_text(encoding="utf-8"))
    assert command is not None

    def built(link: str) -> int:
        (tmp_path / "docs/index.md").write_text(f"[a link]({link})\n", encoding="utf-8")
        line = [sys.executable, "-m", *command[1].split()]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, check=False).returncode

    assert [built(link) for link in ("other.md#there", "other.md#nowhere", "nowhere.md")] == [0, 1, 1]


def test_anchors_are_those_of_repositories() -> None:
    config = MkDocsConfig()
    config.load_dict({"site_name": "any"})
    config.validate()
    slug = site.on_config(config).mdx_configs["toc"]["slugify"]
    assert slug("Noise at delta = 0, and why", "-") == "noise-at-delta--0-and-why"


def test_a_page_that_loads_something_from_elsewhere_is_refused() -> None:
    def made(output: str) -> str:
        return site.on_post_page(output, page_at("page.md"), None)  # type: ignore[arg-type]

    fine = '<a href="https://example.org">there</a><script src="here.js"></script>'
    assert made(fine) == fine
    for bad in ('<script src="https://example.org/x.js"></script>', "<link rel='icon' href='//example.org/x.png'>"):
        with pytest.raises(PluginError, match="must work offline"):
            made(bad)


def test_the_reference_has_every_public_name() -> None:
    """Each on one page, and every page in the menu."""
    import dpcheck as dp

    made = site.python_reference()
    listed = [line.removeprefix("::: ") for text in made.values() for line in text.splitlines() if line[:4] == "::: "]
    assert len(listed) == len(set(listed))
    names = {path.rsplit(".", 1)[-1] for path in listed}
    rooms = {name for name in dp.__all__ if getattr(dp, name) is sys.modules.get(f"dpcheck.{name}")}
    constants = {name for name in dp.__all__ if name.isupper() and name != "ZCDP"}
    assert names >= {*dp.__all__} - constants - rooms
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert all(f": {page}\n" in menu for page in made)


def test_the_reference_has_every_command_and_option() -> None:
    text = site.command_reference()
    for command in ("verify", "audit", "claims", "bounds", "compare", "replay"):
        assert f"## dpcheck {command}" in text
    assert {"--stop-early", "--mutants", "--replace-one"} <= set(re.findall(r"--[a-z-]+", text))


def test_doctests_become_blocks() -> None:
    text = "Adds.\n\n>>> 1 + 1\n2\n\nMore words.\n\n>>> for _ in []:\n...     pass"
    blocks = ["```pycon\n>>> 1 + 1\n2\n```", "```pycon\n>>> for _ in []:\n...     pass\n```"]
    assert fenced(text) == f"Adds.\n\n{blocks[0]}\n\nMore words.\n\n{blocks[1]}"


def test_long_names_in_tables_break_at_signs() -> None:
    cell = '<td><code>zhang17.lemma2</code> <a href="x.html">2·L·T(1.5)</a></td><p>zhang17.lemma2</p>'
    shown = site.on_page_content(cell, None, None, None)  # type: ignore[arg-type]
    assert shown == (
        '<td><code>zhang17.<wbr>lemma2</code> <a href="x.html">2·<wbr>L·<wbr>T(<wbr>1.5)</a></td><p>zhang17.lemma2</p>'
    )
