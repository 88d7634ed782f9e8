"""An audit as one HTML page that needs nothing else."""

from __future__ import annotations

import io

from dpcheck.audits import AuditResult
from dpcheck.bounds.language.errors import MissingDependency
from dpcheck.testing.run_ledger import page


def audit_page(target: str, result: AuditResult) -> str:
    """The result's table, and its trade-off curve where matplotlib is installed."""
    return page(f"{target}: {result.verdict}", result._repr_html_() + curve_svg(result))


def curve_svg(result: AuditResult) -> str:
    """The trade-off curve as inline SVG, or a sentence on what is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return f"<p>{MissingDependency('matplotlib', 'the trade-off curve', 'plot')}</p>"
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    result.plot(figure.subplots())
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]
