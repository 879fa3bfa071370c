"""The page in a real browser: it is quiet, asks for nothing, and does what its controls say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench.api import compare, replay
from bench.charts.choice import Choice
from bench.report.page import page
from bench.report.report import Asked, gather
from tests.bench.report.browser import launched, opened
from tests.bench.report.replayed import window_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[3]

EVIL = '</script><script>window.taken=1</script><img src=x onerror="window.taken=2">${7*7}{{7*7}}'

LAPTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A page of a comparison, and what its slider holds."""
    found = compare(
        ["doc-analysis", "stale-file"],
        ["tiered", "naive-rewrite", "naive-trim", "disciplined"],
        seeds=2,
    )
    contents = gather(found, Asked())
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(page(contents), encoding="utf-8")
    return file, json.loads(json.dumps(contents.windows))


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a recorded session whose every text tries to be more than text."""
    folder = tmp_path_factory.mktemp("evil")
    lines = (ROOT / "examples" / "demo-session.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [_replaced(json.loads(line)) for line in lines]
    session = folder / "session.jsonl"
    session.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = replay([session], ["compaction", "tiered"])
    file = folder / "report.html"
    file.write_text(page(gather(found, Asked(title=f"Is {EVIL} text?"))), encoding="utf-8")
    return file


def _replaced(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item) for item in value]
    return value.replace("tidewatch", EVIL) if isinstance(value, str) else value


# -- quiet, and whole in itself ------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_it_says_nothing_asks_for_nothing_and_fits(
    browser: Browser, compared: tuple[Path, Any], size: dict[str, Any], scheme: Any
) -> None:
    with opened(browser, compared[0], color_scheme=scheme, **size) as there:
        there.page.wait_for_timeout(200)
        assert there.said == []
        assert there.asked == [compared[0].resolve().as_uri()]
        width = there.page.evaluate("document.documentElement.scrollWidth")
        assert width <= size["viewport"]["width"]
        ground = there.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, ground[4:-1].split(","))) > 380) == (scheme == "light")
        # what a chart is drawn with follows the page
        ink = "getComputedStyle(document.querySelector('figure svg text')).fill"
        assert (sum(map(int, there.page.evaluate(ink)[4:-1].split(","))) < 380) == (
            scheme == "light"
        )


def test_a_request_that_a_page_would_make_is_refused(
    browser: Browser, compared: tuple[Path, Any], tmp_path: Path
) -> None:
    """The policy of content security is not for show: what it forbids does not happen."""
    text = compared[0].read_text(encoding="utf-8")
    more = "<img src='http://192.0.2.1/x.png'><script>window.taken = 1</script></body>"
    file = tmp_path / "changed.html"
    file.write_text(text.replace("</body>", more), encoding="utf-8")
    with opened(browser, file) as there:
        there.page.wait_for_timeout(200)
        assert there.page.evaluate("window.taken") is None
        assert len(there.said) == 2 and all("Content Security Policy" in s for s in there.said)


def test_everything_has_a_name_and_an_order(browser: Browser, compared: tuple[Path, Any]) -> None:
    with opened(browser, compared[0]) as there:
        evaluate = there.page.evaluate
        assert evaluate("document.documentElement.lang") == "en"
        ids = evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        assert len(ids) == len(set(ids))
        levels = evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(e => +e.tagName[1])")
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after <= before + 2 for before, after in pairwise(levels))
        nameless = (
            "[...document.querySelectorAll('button, input, select, svg[role=img], [role=region]')]"
            ".filter(e => !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') ||"
            " e.textContent.trim() || e.labels?.length)).length"
        )
        assert evaluate(nameless) == 0
        references = (
            "[...document.querySelectorAll('[aria-labelledby]')]"
            ".every(e => document.getElementById(e.getAttribute('aria-labelledby')))"
        )
        assert evaluate(references)
        links = (
            "[...document.querySelectorAll('a[href]')].every(a => document.querySelector(a.hash))"
        )
        assert evaluate(links)
        scopes = "[...document.querySelectorAll('th')].every(e => e.scope === 'col')"
        assert evaluate(scopes)


# -- tables --------------------------------------------------------------------------------------


TABLE = 'table.sortable[aria-label^="doc-analysis: 2 seeds"]'


def _column(there: Page, header: str) -> list[str]:
    """Return the cells under *header* of the table of doc-analysis, in their order."""
    found = there.evaluate(
        """([table, header]) => {
            const [head, ...rows] = document.querySelector(table).rows;
            const place = [...head.cells].findIndex((cell) => cell.textContent.trim() === header);
            return rows.map((row) => row.cells[place].textContent);
        }""",
        [TABLE, header],
    )
    assert isinstance(found, list)
    return found


def _number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def test_a_table_is_sorted_by_mouse_and_by_keyboard(
    browser: Browser, compared: tuple[Path, Any]
) -> None:
    with opened(browser, compared[0], **LAPTOP) as there:
        table = there.page.locator(TABLE)
        before = _column(there.page, "policy")
        cost = table.get_by_role("button", name="cost $", exact=True)
        cost.click()
        rising = _column(there.page, "cost $")
        assert rising == sorted(rising, key=_number) and len(set(rising)) > 1
        header = table.get_by_role("columnheader", name="cost $", exact=True)
        assert header.get_attribute("aria-sort") == "ascending"
        assert there.page.locator("#sorted").text_content() == "Sorted by cost $, ascending."
        cost.focus()
        there.page.keyboard.press("Enter")
        assert header.get_attribute("aria-sort") == "descending"
        assert _column(there.page, "cost $") == rising[::-1]
        there.page.keyboard.press("Shift+Tab")
        there.page.keyboard.press("Space")
        assert header.get_attribute("aria-sort") is None
        peaks = _column(there.page, "peak tokens")
        assert peaks == sorted(peaks, key=_number)
        table.get_by_role("button", name="policy", exact=True).click()
        assert _column(there.page, "policy") == sorted(before)
        table.get_by_role("button", name="#", exact=True).click()
        assert _column(there.page, "policy") == before


# -- the window, turn by turn --------------------------------------------------------------------


def _shown(there: Page) -> dict[str, Any]:
    """Return what the page shows of a turn, in the form of `window_in`."""
    found = there.evaluate(
        """() => {
            const rows = (id) => [...document.getElementById(id).rows].map(
                (row) => [...row.cells].map((cell) => cell.textContent));
            return [rows("w-in"), rows("w-out")];
        }"""
    )
    inside, outside = found
    return {
        "window": [(row[1], int(row[3].replace(",", ""))) for row in inside],
        "absent": {row[0]: row[3] for row in outside},
        "salience": {row[1]: row[4] for row in inside} | {row[0]: row[2] for row in outside},
    }


def _agrees(there: Page, told: dict[str, Any], policy: str, turn: int) -> None:
    expected, shown = window_in(told, policy, turn), _shown(there)
    assert shown["window"] == [entry[:2] for entry in expected["window"]]
    assert shown["absent"] == {name: answer for name, (_, answer) in expected["absent"].items()}
    values = {name: s for name, _, s in expected["window"]}
    values |= {name: s for name, (s, _) in expected["absent"].items()}
    for name, text in shown["salience"].items():
        if text == "< 0.001":
            assert 0 < values[name] < 0.001
        else:
            assert float(text) == pytest.approx(values[name], abs=0.006)
    spans = there.evaluate("document.querySelectorAll('#w-bar span').length")
    assert spans == len(expected["window"])
    assert there.locator("#w-said").text_content().startswith(f"Turn {turn}: ")  # type: ignore[union-attr]


def test_the_slider_shows_every_turn_of_every_policy(
    browser: Browser, compared: tuple[Path, Any]
) -> None:
    file, told = compared
    with opened(browser, file, **LAPTOP) as there:
        choices = there.page.locator("#w-policy option").all_text_contents()
        assert choices == ["naive-rewrite", "tiered", "disciplined"]  # naive-trim cannot run it
        assert there.page.locator("#w-policy").input_value() == told["first"]
        for policy in choices:
            there.page.locator("#w-policy").select_option(policy)
            for turn in (1, 2, 57, 200, 120, 3):
                there.page.locator("#w-turn").fill(str(turn))
                _agrees(there.page, told, policy, turn)
        assert there.said == []


def test_the_slider_is_moved_by_keys_and_buttons(
    browser: Browser, compared: tuple[Path, Any]
) -> None:
    file, told = compared
    with opened(browser, file, **LAPTOP) as there:
        on, back = (
            there.page.get_by_role("button", name=name) for name in ("One turn on", "One turn back")
        )
        there.page.locator("#w-policy").select_option("naive-rewrite")
        there.page.locator("#w-turn").focus()
        there.page.keyboard.press("Home")
        assert back.is_disabled()
        there.page.keyboard.press("ArrowRight")
        there.page.keyboard.press("ArrowRight")
        _agrees(there.page, told, "naive-rewrite", 3)
        assert there.page.locator("#w-turn").get_attribute("aria-valuetext") == "turn 3"
        on.focus()
        there.page.keyboard.press("Enter")
        _agrees(there.page, told, "naive-rewrite", 4)
        back.click()
        _agrees(there.page, told, "naive-rewrite", 3)
        there.page.locator("#w-turn").focus()
        there.page.keyboard.press("End")
        _agrees(there.page, told, "naive-rewrite", 200)
        assert on.is_disabled()
        # another policy is shown in the same turn
        there.page.locator("#w-turn").fill("90")
        there.page.locator("#w-policy").select_option("tiered")
        _agrees(there.page, told, "tiered", 90)


def test_wrong_answers_are_found_one_after_the_other(
    browser: Browser, compared: tuple[Path, Any]
) -> None:
    file, told = compared
    (run,) = (run for run in told["runs"] if run["policy"] == "naive-rewrite")
    wrong = [t["turn"] for t in run["turns"] if any(each[3] for each in t.get("said", ()))]
    assert len(wrong) > 2
    with opened(browser, file, **LAPTOP) as there:
        there.page.locator("#w-policy").select_option("naive-rewrite")
        there.page.locator("#w-turn").fill("1")
        for turn in [*wrong, wrong[0]]:
            there.page.get_by_role("button", name="Next wrong answer").click()
            assert there.page.locator("#w-turn").input_value() == str(turn)
            marked = there.page.locator("#w-did .wrongly").all_text_contents()
            assert marked and all(": correct" not in text for text in marked)


def test_segments_are_found_by_a_part_of_their_name(
    browser: Browser, compared: tuple[Path, Any]
) -> None:
    with opened(browser, compared[0], **LAPTOP) as there:
        there.page.get_by_label("Show segments with").fill("T12.")
        shown = _shown(there.page)
        names = [name for name, _ in shown["window"]] + list(shown["absent"])
        assert names and all(name.startswith("t12.") for name in names)


# -- texts are texts -----------------------------------------------------------------------------


def test_what_a_transcript_holds_stays_text(browser: Browser, evil: Path) -> None:
    with opened(browser, evil, **LAPTOP) as there:
        for policy in there.page.locator("#w-policy option").all_text_contents():
            there.page.locator("#w-policy").select_option(policy)
            for _ in range(5):
                there.page.get_by_role("button", name="One turn back").click()
        there.page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
        there.page.wait_for_timeout(200)
        assert there.page.evaluate("window.taken") is None
        assert (there.said, len(there.asked)) == ([], 1)
        assert there.page.locator("h1").text_content() == f"Is {EVIL} text?"
        assert there.page.evaluate("document.querySelectorAll('img').length") == 0
        assert there.page.evaluate("document.scripts.length") == 2
        assert EVIL.split("{{")[0] in there.page.evaluate("document.body.innerText")
    text = evil.read_text(encoding="utf-8")
    assert "<script>window" not in text and "<img" not in text


# -- print ---------------------------------------------------------------------------------------


def test_in_print_all_is_open_on_white_and_no_control_is_left(
    browser: Browser, compared: tuple[Path, Any]
) -> None:
    with opened(browser, compared[0], color_scheme="dark", **LAPTOP) as there:
        there.page.emulate_media(media="print", color_scheme="dark")
        evaluate = there.page.evaluate
        assert evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not there.page.locator("nav").is_visible()
        assert not there.page.locator("#w-turn").is_visible()
        evaluate("dispatchEvent(new Event('beforeprint'))")
        assert evaluate("document.querySelectorAll('details:not([open])').length") == 0
        assert evaluate("document.querySelectorAll('details').length") > 1
        evaluate("dispatchEvent(new Event('afterprint'))")
        assert evaluate("document.querySelectorAll('details[open]').length") == 0
        there.page.emulate_media(media=None)
        printed = there.page.pdf(format="A4")
        assert printed.startswith(b"%PDF") and len(printed) > 50_000
    assert there.said == []


def test_without_scripts_it_can_be_read(browser: Browser, compared: tuple[Path, Any]) -> None:
    with opened(browser, compared[0], java_script_enabled=False) as there:
        assert there.page.locator("#answer .winner").first.is_visible()
        assert there.page.locator("figure svg").first.is_visible()
        assert not there.page.locator("#w-turn").is_visible()
        assert "Without scripts" in there.page.locator("noscript").inner_text()


def test_the_run_that_was_chosen_is_shown(tmp_path: Path, browser: Browser) -> None:
    found = compare(["doc-analysis"], ["tiered", "no-op"], seeds=2, settings={"turns": 20})
    asked = Asked(Choice(policy="no-op", seed=1))
    file = tmp_path / "one.html"
    file.write_text(page(gather(found, asked)), encoding="utf-8")
    with opened(browser, file) as there:
        heading = there.page.locator("#run-h").text_content()
        assert heading == "One run: no-op on doc-analysis, seed 1"
        assert there.page.locator("#w-policy").input_value() == "no-op"
