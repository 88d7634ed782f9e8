"""The audits of a test run as one page: a listing to search and sort, and each audit with its curve and its replay."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dpcheck.report.audit_page import article
from dpcheck.report.page import Column, Filter, Item, articles, badge, breakable, listing, page

OUTCOMES = {"violated": 0, "unhealthy": 1, "passed": 2}  # in the order in which a reader wants them
COLUMNS = (
    Column("test", "test"),
    Column("outcome", "outcome"),
    Column("claimed", "claimed"),
    Column("found", "found"),
    Column("would have caught", "caught"),
)
ORDERS = {
    "order": "as they ran",
    "outcome": "what failed first",
    "test": "test",
    "claimed": "epsilon claimed",
    "found": "epsilon found",
    "caught": "epsilon that would be caught",
    "seconds": "time",
}


def run_page(entries: Sequence[Mapping[str, Any]], closing: str) -> str:
    """The page; `closing` is the run in one line."""
    keys = [f"audit-{i}" for i in range(1, len(entries) + 1)]
    items = [item(i, key, entry) for i, (key, entry) in enumerate(zip(keys, entries, strict=True))]
    shown = {key: of_entry(entry) for key, entry in zip(keys, entries, strict=True)}
    counts = Counter(entry["outcome"] for entry in entries)
    filters = [Filter("kind", "outcome", {o: o for o in OUTCOMES if counts[o]}, buttons=True)]
    body = listing("audits", COLUMNS, items, filters, ORDERS)
    return page("dpcheck: audits of a test run", closing, f"{body}\n{articles(shown, 'all audits')}")


def item(order: int, key: str, entry: Mapping[str, Any]) -> Item:
    """A row: which test, how it came out, what was claimed, found and would have been caught."""
    caught = float(entry["detectable_epsilon"])
    would = f"ε ≥ {caught:.4g}" if math.isfinite(caught) else "no number"
    test, mechanism, outcome = entry["test"], entry["mechanism"], entry["outcome"]
    cells = [
        f"<a class='name' href='#{key}'>{breakable(test)}</a><br><span class='note'>{breakable(mechanism)}</span>",
        badge(outcome),
        escape(str(entry["guarantee"])),
        escape(entry.get("says") or f"ε {entry['finding']}"),
        f"<span class='note narrow'>would catch</span> {would}" if outcome == "passed" else "",
    ]
    values = {
        "order": order,
        "kind": outcome,
        "outcome": OUTCOMES[outcome],
        "test": test,
        "claimed": entry["claimed"],
        "found": entry["epsilon_lower"],
        "caught": min(caught, 1e300),
        "seconds": entry["seconds"],
    }
    return Item(key, cells, values)


def of_entry(entry: Mapping[str, Any]) -> str:
    """One audit, with the test that it ran in."""
    claim = f"{breakable(entry['mechanism'])} · {escape(entry['page']['claim'])}"
    head = f"<h2>{breakable(entry['test'])} {badge(entry['outcome'])}</h2><p class='place'>{claim}</p>"
    return head + article(entry["page"], entry["replay"])
