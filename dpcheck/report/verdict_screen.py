"""What a run of `dpcheck verify` says to a person: one screen, or all rows on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dpcheck.bounds.language.evidence import DOCUMENTS, Provenance, Verdict
from dpcheck.report.layout import OneLine, indented, tabbed
from dpcheck.report.terminal import COLOURS, coloured
from dpcheck.verdicts.catalogue import catalogue
from dpcheck.verdicts.failures import Failure, rank_of

if TYPE_CHECKING:
    from dpcheck.verdicts.verify import Judgement

FEW = 12  # claims that are shown whole without being asked for
MOST = 6  # of each sort on the screen
Changes = Sequence[tuple[str, str, str]]  # claim, recorded, found


# One screen ----------------------------------------------------------------------------------------
def show_screen(done: Sequence[Judgement], total: int, seconds: float, changed: Changes, out: Console) -> None:
    """Counts by document, the privacy failures, what changed, where to look next."""
    out.print(Text(summary(done, total, seconds), style="bold"))
    out.print(counts(done))
    refuted = [j for j in done if j.verdict is Verdict.REFUTED and printed(j)]
    kinds = Counter(rank_of(j.severity) for j in refuted)
    names = [*(f.value for f in Failure), "not graded"]
    if refuted:
        out.print(Text(f"Refuted, by failure: {', '.join(f'{kinds[i]} {names[i]}' for i in sorted(kinds))}"))
    show_failures([j for j in refuted if rank_of(j.severity) == 0], out)
    show_changes(changed, out)
    out.print(Text("Next", style="bold"))
    for command, what in (
        ("dpcheck claims ID", "one claim: statement, hypotheses, evidence, replay"),
        ("dpcheck verify --table", "all rows; --html FILE writes a page to search"),
        ("dpcheck verify --mutants", "whether the checks would notice a false statement"),
    ):
        out.print(Text(f"  {command:<26}{what}"))


def summary(done: Sequence[Judgement], total: int, seconds: float) -> str:
    """One line: how many of what."""
    found = Counter(j.verdict for j in done)
    parts = ", ".join(f"{found[v]} {v.value.lower()}" for v in Verdict if found[v])
    head = f"{len(done)} claims" if len(done) == total else f"{len(done)} of {total} claims (stopped early)"
    return f"{head} in {seconds:.1f} s: {parts}"


def printed(judgement: Judgement) -> bool:
    """Whether the document printed it: consequences, readings and corrections are ours."""
    return judgement.about.provenance == Provenance.PRINTED


def counts(done: Sequence[Judgement]) -> Table:
    """Verdicts on what each document prints, and how many claims beside are ours."""
    found = {d: Counter(j.verdict for j in done if printed(j) and j.about.document == d) for d in DOCUMENTS}
    found = {d: c for d, c in found.items() if c}
    ours = Counter(j.about.document for j in done if not printed(j))
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", *found, "all"):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for verdict in Verdict:
        row = [c[verdict] for c in found.values()]
        if any(row):
            label = Text(verdict.value.lower(), style=COLOURS[verdict])
            table.add_row(label, *(str(x or "") for x in row), str(sum(row)))
    sums = [sum(c.values()) for c in found.values()]
    table.add_row("printed", *map(str, sums), str(sum(sums)), style="bold")
    table.add_row("ours beside", *(str(ours[d] or "") for d in found), str(sum(ours.values())))
    return table


def show_failures(failures: Sequence[Judgement], out: Console) -> None:
    """The privacy failures, and what to use instead."""
    if not failures:
        return
    out.print(Text("Privacy failures", style="bold red"))
    for one in failures[:MOST]:
        instead = f"; instead {one.instead.partition(': ')[0]}" if one.instead else ""
        out.print(indented(f"{one.id}: {how_far(one.severity)}{instead}"))
    more(len(failures) - MOST, out)


def show_changes(changed: Changes, out: Console) -> None:
    """What differs from the record."""
    if not changed:
        out.print(Text("As recorded: no verdict changed."))
        return
    out.print(Text(f"Verdicts that differ from the record: {len(changed)}", style="bold"))
    for claim_id, old, new in changed[:MOST]:
        out.print(OneLine(Text.assemble(f"  {claim_id}: ", coloured(old), " → ", coloured(new))))
    more(len(changed) - MOST, out)
    out.print(Text("If the new verdicts are right: dpcheck verify --record"))


def more(count: int, out: Console) -> None:
    if count > 0:
        out.print(Text(f"  and {count} more: --table"))


def how_far(severity: str) -> str:
    """A severity without the name of its kind."""
    return severity.partition(": ")[2] or severity


# All rows ------------------------------------------------------------------------------------------
def in_order(done: Sequence[Judgement]) -> list[Judgement]:
    """As the documents print them."""
    order = {key: i for i, key in enumerate(catalogue())}
    return sorted(done, key=lambda j: order[j.id])


def show_rows(done: Sequence[Judgement], out: Console) -> None:
    """Each claim with its statement, what decided, and how to see it again; commands stay on one line.

    In a pipe a claim is one line: id, verdict, place, statement, what was found, the replay.
    """
    for one in in_order(done):
        row = one.about
        if not out.is_terminal:
            out.print(tabbed(one.id, one.verdict, row.place, row.statement, "; ".join(said(one)), one.replay or ""))
            continue
        head = Text.assemble((one.id, "bold"), "  ", coloured(one.verdict), f"  {row.place}")
        out.print(head)
        out.print(indented(row.statement))
        for text in said(one):
            out.print(indented(text))
        if one.replay:
            out.print(OneLine(Text(f"  {one.replay}")))


def said(one: Judgement) -> Iterator[str]:
    """What decided, how grave it is, what to use instead, and the gaps of the proof."""
    kinds = ", ".join(dict.fromkeys(e.check for e in one.evidence)) or "nothing yet"
    figure = one.telling.shown if one.telling else "no check applies"
    yield f"{figure} (checked by {kinds}, {one.seconds:.1f} s)"
    if one.severity:
        yield one.severity
    if one.instead:
        yield f"instead {one.instead}"
    for gap in one.gaps:
        yield f"gap: {gap.figure}"
