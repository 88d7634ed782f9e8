"""The pages in a real browser: nothing to scroll sideways, light and dark, and what a reader does with them.

Needs Chromium and its driver (Debian: chromium, chromium-driver) and selenium, the extra `browser`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dpcheck.audits import audit
from dpcheck.bounds.language.evidence import Verdict
from dpcheck.bounds.language.guarantees import PureDP
from dpcheck.report.audit_page import audit_page
from dpcheck.report.verdict_browser import verdict_browser
from dpcheck.testing import run_ledger as ledger
from dpcheck.testing.assertions import assert_private
from dpcheck.verdicts.catalogue import catalogue, current
from dpcheck.verdicts.record import recorded

webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium: pip install 'dpcheck[browser]'")

WIDTHS = (360, 800, 1400)
BINARIES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
)
WAIT = 20  # seconds; only a failure takes as long
DOCUMENTS = ("zhang17", "wangxu19")  # whose claims are on the page of verdicts, with the longest of the others

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    binary = next((path for path in map(shutil.which, BINARIES) if path), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("needs Chromium and its driver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()


@pytest.fixture(scope="module")
def longest() -> list[str]:
    """The claims that need most room."""
    by_statement = sorted(catalogue(), key=lambda i: -len(catalogue()[i].statement))[:3]
    return [*by_statement, max(catalogue(), key=len)]


@pytest.fixture(scope="module")
def claims(longest: list[str]) -> list[str]:
    return [i for i, row in catalogue().items() if row.document in DOCUMENTS or i in longest]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, claims: list[str]) -> dict[str, str]:
    """The three pages, as addresses of files."""
    folder = tmp_path_factory.mktemp("pages")
    entries: list[ledger.Entry] = []
    for name, scale in (("test_it.py::test_good", 1.0), ("test_it.py::test_with_quite_a_long_name_" + 60 * "x", 0.3)):
        with ledger.running(ledger.RunningTest(name, 0, None, entries.append)):
            try:
                assert_private(noisy(scale), pair=(0.0, 1.0), guarantee=PureDP(1.0), max_trials=5000)
            except AssertionError:
                assert scale < 1
    pair = (np.linspace(0, 1, 300), np.linspace(0, 2, 300))
    result = audit(noisy(0.3), pair=pair, guarantee=PureDP(1.0), max_trials=5000)
    texts = {
        "verdicts": verdict_browser(claims, recorded(), current(), "as recorded"),
        "audit": audit_page("shop.of.a.long.name:mechanism", result, "dpcheck audit " + "--pair file.npz " * 9),
        "run": ledger.html_report(entries),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in texts}


def noisy(scale: float) -> Any:
    return lambda data, rng, trials: np.sum(data) + rng.laplace(scale=scale, size=trials)


def see(browser: Any, address: str, width: int = 1400) -> None:
    """Load a page on a screen of this width."""
    widen(browser, width)
    browser.get("about:blank")  # an address that differs in its hash only would not load again
    browser.get(address)  # with a hash it may return before all is there
    wait_for(browser, lambda b: b.execute_script("return document.readyState") == "complete")


def widen(browser: Any, width: int) -> None:
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)


def find(browser: Any, selector: str) -> Any:
    return browser.find_element("css selector", selector)


def shown(browser: Any) -> list[str]:
    """The items that the listing shows, in its order."""
    script = "return [...document.querySelectorAll('.listing tbody tr')].filter(r => !r.hidden).map(r => r.dataset.id)"
    found: list[str] = browser.execute_script(script)
    return found


def fits(browser: Any) -> bool:
    script = "const s = document.scrollingElement; return s.scrollWidth <= innerWidth && s.scrollWidth > 0"
    return bool(browser.execute_script(script))


def choose(browser: Any, name: str, value: str) -> None:
    from selenium.webdriver.support.ui import Select

    Select(find(browser, f"select[data-filter='{name}']")).select_by_value(value)


def wait_for(browser: Any, condition: Any) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, WAIT).until(condition)


# How it looks --------------------------------------------------------------------------------------
def test_nothing_is_scrolled_sideways(browser: Any, pages: dict[str, str], longest: list[str]) -> None:
    """Lists, audits, and the claims with the longest formulas and ids; a page that is too wide is noticed."""
    views = {"audit": [""], "run": ["", "audit-2"], "verdicts": ["", *longest]}
    for name, parts in views.items():
        see(browser, pages[name])
        for part in parts:
            browser.execute_script("location.hash = arguments[0]", part)
            wait_for(browser, lambda b, part=part: not part or find(b, f"article[id='{part}']").is_displayed())
            for width in WIDTHS:
                widen(browser, width)
                assert browser.execute_script("return innerWidth") == width
                assert fits(browser), (name, part, width)
    browser.execute_script("document.querySelector('main').style.width = '2000px'")
    assert not fits(browser)


def test_light_and_dark(browser: Any, pages: dict[str, str]) -> None:
    script = "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color].map(c => c.match(/\\d+/g))"
    see(browser, pages["run"])
    bright = {}
    for scheme in ("light", "dark"):
        media = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        bright[scheme] = [sum(map(int, colour[:3])) for colour in browser.execute_script(script)]
    assert bright["light"][0] > bright["light"][1] + 300
    assert bright["dark"][0] < bright["dark"][1] - 300


def test_formulas_and_curves_are_drawn(browser: Any, pages: dict[str, str]) -> None:
    see(browser, f"{pages['verdicts']}#zhang17.lemma2")
    fraction = find(browser, "article.shown .statement mfrac").rect
    assert fraction["height"] > 20  # numerator over denominator, not a line of text
    see(browser, pages["audit"], 360)
    assert find(browser, "figure svg").rect["height"] > 200


# What a reader does --------------------------------------------------------------------------------
def test_search_filter_sort_and_open(browser: Any, pages: dict[str, str], claims: list[str]) -> None:
    known = recorded()
    see(browser, pages["verdicts"])
    assert sorted(shown(browser)) == sorted(claims)

    find(browser, "button[value='REFUTED']").click()
    refuted = [i for i in claims if known[i]["verdict"] == Verdict.REFUTED]
    assert sorted(shown(browser)) == sorted(refuted)
    choose(browser, "document", "zhang17")
    choose(browser, "kind", "privacy")
    wanted = [i for i in refuted if i.startswith("zhang17.") and catalogue()[i].kind == "privacy"]
    assert sorted(shown(browser)) == sorted(wanted)
    assert f"{len(wanted)} of {len(claims)} claims" == find(browser, ".count").text
    assert f"zhang17 ({len(wanted)})" in find(browser, "select[data-filter='document']").text

    find(browser, "th.claim button").click()
    assert shown(browser) == sorted(wanted)
    find(browser, "th.claim button").click()
    assert shown(browser) == sorted(wanted, reverse=True)

    first = shown(browser)[0]
    find(browser, f"tr[data-id='{first}'] a").click()
    wait_for(browser, lambda b: find(b, f"article[id='{first}']").is_displayed())
    article = find(browser, f"article[id='{first}']").text
    assert catalogue()[first].says in article
    assert known[first]["replay"].split()[2] in article
    assert not find(browser, ".listing").is_displayed()
    assert browser.title.startswith(first)
    find(browser, "article.shown .next").click()
    second = shown(browser)[1]
    wait_for(browser, lambda b: find(b, f"article[id='{second}']").is_displayed())
    find(browser, "article.shown .back").click()
    wait_for(browser, lambda b: find(b, ".listing").is_displayed())
    assert shown(browser) == sorted(wanted, reverse=True)  # as it was left

    find(browser, "button[type='reset']").click()
    assert len(shown(browser)) == len(claims)
    find(browser, "input").send_keys("lemma9 AMPLIFIED nonsense-word")
    assert shown(browser) == []
    find(browser, "input").clear()
    find(browser, "input").send_keys("zhang17.lemma9.exact")
    assert "zhang17.lemma9.exact" in shown(browser)
    assert len(shown(browser)) < 20
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_an_address_keeps_its_filters(browser: Any, pages: dict[str, str], claims: list[str]) -> None:
    """As a bar of the overview leads to them, and as they are sent to a colleague; also on a phone."""
    known = recorded()
    printed = [i for i, row in catalogue().items() if row.provenance == "printed" and row.document == "wangxu19"]
    see(browser, pages["verdicts"], 360)
    find(browser, ".bars > div:last-child a.refuted").click()
    wait_for(browser, lambda b: len(shown(b)) < len(claims))
    assert sorted(shown(browser)) == sorted(i for i in printed if known[i]["verdict"] == Verdict.REFUTED)
    address = browser.current_url
    see(browser, address)
    assert sorted(shown(browser)) == sorted(i for i in printed if known[i]["verdict"] == Verdict.REFUTED)
    see(browser, f"{pages['verdicts']}#?failure=privacy+failure&order=rank")
    grave = [i for i in claims if known[i].get("severity", "").startswith("privacy failure")]
    assert sorted(shown(browser)) == sorted(grave)


def test_a_run_is_sorted_and_opened(browser: Any, pages: dict[str, str]) -> None:
    see(browser, pages["run"], 360)
    assert shown(browser) == ["audit-1", "audit-2"]
    from selenium.webdriver.support.ui import Select

    Select(find(browser, "select.order")).select_by_value("outcome")
    assert shown(browser) == ["audit-2", "audit-1"]
    find(browser, "button[value='passed']").click()
    assert shown(browser) == ["audit-1"]
    find(browser, "tr[data-id='audit-1'] td").click()
    wait_for(browser, lambda b: find(b, "#audit-1").is_displayed())
    text = find(browser, "#audit-1").text
    for words in ("would have been flagged", "THE PAIR", "--dpcheck-seed=0", "likelier on the"):
        assert words in text
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_without_script_all_is_there(browser: Any, pages: dict[str, str]) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        see(browser, pages["run"])
        assert find(browser, "#audit-1").is_displayed()
        assert find(browser, "#audit-2").is_displayed()
        assert not find(browser, ".controls").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
