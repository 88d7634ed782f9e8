"""An audit as one page: what was found in words, the curve, the pair, and the command that shows it again."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from dpcheck.report.page import badge, command, facts, page, section
from dpcheck.report.tradeoff_curve import curve_of, curve_svg

if TYPE_CHECKING:
    from dpcheck.audits import AuditResult, Replayed

LONGEST = 4000  # characters of a dataset on a page
VERDICTS = {"VIOLATED": "violated", "not violated": "not-violated", "measured": "measured"}
VERDICTS |= {"kept on this pair": "not-violated", "not seen through": "measured"}
ABOUT_CURVE = (
    "Tests that guess from one output which of the two datasets it came from: how often they take the second for the "
    "first (type I) and the first for the second (type II)."
)


def audit_page(target: str, result: AuditResult | Replayed, replay: str = "") -> str:
    """The whole page, to be written to a file; `replay` is the command that ran the audit, if one did.

    >>> from dpcheck.audits import audit
    >>> from dpcheck.bounds.language.guarantees import PureDP
    >>> def noisy(data, rng, trials):
    ...     return data + rng.laplace(scale=1.0, size=trials)
    >>> result = audit(noisy, pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=1000)
    >>> audit_page("noisy", result).splitlines()[0]
    '<!doctype html>'
    """
    shown = shown_of(result)
    title = f"{target}: {result.verdict}"
    verdict = badge(result.verdict, VERDICTS.get(result.verdict, "violated"))
    head = f"<p class='says'>{verdict} {escape(shown['claim'])}</p>"
    return page(title, said_of(result), f"<article>{head}{article(shown, replay)}</article>")


def said_of(result: AuditResult | Replayed) -> str:
    """What was found, with the parameter it is about."""
    from dpcheck.audits import Replayed

    return result.finding if isinstance(result, Replayed) else f"epsilon {result.finding}"


def shown_of(result: AuditResult | Replayed) -> dict[str, Any]:
    """What a page shows of an audit, as plain values; a replay has no curve."""
    from dpcheck.audits import Replayed
    from dpcheck.audits.pairs.pair_in_words import difference

    return {
        "claim": "no claim" if result.guarantee is None else str(result.guarantee),
        "lines": [list(named) for named in result.lines()],
        "pair": [cut(repr(data)) for data in result.pair],
        "differ": difference(*result.pair),
        "curve": None if isinstance(result, Replayed) else curve_of(result),
    }


def article(shown: Mapping[str, Any], replay: str = "") -> str:
    """The audit in parts; the first says it all."""
    found = facts((name, escape(said)) for name, said in shown["lines"] if name not in ("verdict", "pair"))
    curve = ""
    if shown["curve"] is not None:
        curve = section("what the outputs tell", f"<p class='note'>{ABOUT_CURVE}</p>{curve_svg(shown['curve'])}")
    first, second = shown["pair"]
    pair = (
        f"<p>{escape(shown['differ'])}</p><h3>first</h3><div class='data'><code>{escape(first)}</code></div>"
        f"<h3>second</h3><div class='data'><code>{escape(second)}</code></div>"
    )
    again = section("see it again", command(replay) if replay else "")
    return f"<div class='beside'>{found}<div>{curve}</div><div>{section('the pair', pair)}{again}</div></div>"


def cut(text: str) -> str:
    """A dataset that no page should hold whole, with how much is left out."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ... ({len(text) - LONGEST} characters more)"
