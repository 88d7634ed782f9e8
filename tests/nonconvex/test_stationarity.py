"""The table that two documents share."""

from __future__ import annotations

from dpcheck.bounds.library.nonconvex.stationarity_comparison import table1, table41
from dpcheck.bounds.proving.tables import compared


def test_the_chapter_prints_the_papers_table_but_for_one_logarithm() -> None:
    pairs = list(zip(table1.rows, table41.rows, strict=True))
    differ = [
        (ours.method, column)
        for ours, theirs in pairs
        for column in ours.cells
        if ours.cells[column].printed != theirs.cells[column].printed
    ]
    assert differ == [("Zhang et al. 2017", "utility")]
    assert [row.method for row in table41.rows][2:] == [f"Algorithm 4.1.{i}" for i in (16, 17, 18, 19)]
    ids = [cell.claim for row in table41.rows for cell in row.cells.values() if cell.claim]
    assert ids == ["zhang17.theorem5.rate"] + [f"dwang20.theorem4.1.{i}" for i in (2, 4, 5, 6)]


def test_a_cell_without_the_fourth_root_would_be_noticed() -> None:
    row = table1.rows[3]
    wrong = table1.with_cells({("Algorithm 2", "utility"): row.cells["utility"].printed ** 2}).rows[3]
    assert compared(table1, 4, wrong, "utility", wrong.cells["utility"]).status == "smaller"
