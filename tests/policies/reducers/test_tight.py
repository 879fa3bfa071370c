"""A build in a small room: the first error is always there, by place if not in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.reducers.build import Diagnostic, build
from policies.reducers.findings import Findings, Item
from policies.reducers.log import Log
from policies.reducers.reduction import Output, reduced
from policies.reducers.room import Room
from policies.reducers.tight import Tight
from sim.tokens import tokenizer

MAKE = """\
engine.c: In function 'start':
engine.c:8:14: error: 'pressure' undeclared (first use in this function)
    8 |     return p + pressure;
      |                ^~~~~~~~
engine.c:9:3: warning: unused variable 'q' [-Wunused-variable]
engine.c:10:3: warning: unused variable 'r' [-Wunused-variable]
engine.c:11:3: warning: unused variable 's' [-Wunused-variable]
valve.c:31:1: error: expected declaration before '}' token
make: *** [Makefile:12: engine.o] Error 1
"""

NPM = """\
npm error code ELSPROBLEMS
npm error missing: left-handed@2.0.0, required by shop@1.0.0
npm error invalid: right-handed@1.0.0 /srv/shop/node_modules/right-handed
npm error A complete log of this run can be found in: /home/dev/.npm/_logs/2031-01-01-debug-0.log
"""

PIP = """\
Looking in links: /srv/wheels
WARNING: Location '/srv/wheels/none/' is ignored: it is neither a file nor a directory.
ERROR: Could not find a version that satisfies the requirement fastsum==9 (from versions: 1.0, 1.1)
ERROR: No matching distribution found for fastsum==9
"""


def room(limit):
    return Room(limit, tokenizer())


def text(raw, limit):
    result = reduced(Output(raw), room(limit))
    assert result.tokens_after <= limit
    return result.text


@pytest.mark.parametrize("limit", [40, 60, 80, 100, 120])
def test_the_first_compilers_error_stays_in_any_room(limit):
    got = text(MAKE, limit)
    assert "engine.c:8" in got
    assert "left out" in got
    assert got.count("make: *** [Makefile:12: engine.o] Error 1") <= 1


def test_the_target_is_said_once_and_every_file_is_named():
    lines = text(MAKE, 100).splitlines()
    assert lines[0] == "make: *** [Makefile:12: engine.o] Error 1"
    assert lines[1].startswith("engine.c:8:14: error: 'pressure' undeclared")
    assert lines[2].startswith("valve.c:31")
    assert sum("Error 1" in line for line in lines) == 1


@pytest.mark.parametrize(("raw", "said"), [(NPM, "ELSPROBLEMS"), (PIP, "Could not find a version")])
@pytest.mark.parametrize("limit", [40, 50, 60, 70])
def test_a_package_managers_error_stays(raw, said, limit):
    assert said in text(raw, limit)


def test_a_path_that_does_not_fit_gives_its_last_part():
    folder = "/".join(f"module_number_{number}" for number in range(30))
    got = text(f"{folder}/pump.c:77:3: error: no such thing as a pump\n" * 2, 40)
    assert "…/pump.c:77" in got
    assert "left out" in got


def form(files, warnings=0, head="", verdict=""):
    diagnostics = [
        Diagnostic(n, f"src/unit_{n}.c", f"src/unit_{n}.c:{n + 1}:1: error: number {n} is wrong")
        for n in range(files)
    ]
    diagnostics += [Diagnostic(n, "w.c", "w.c:1: warning: odd", False) for n in range(warnings)]
    log = Log(["x"] * 400)
    return build("gcc", log, diagnostics, head=head, verdict=verdict)


def test_where_not_all_fit_the_rest_is_named_by_place_and_counted():
    laid = form(40, 7).lay(room(300))
    named = sum(f"src/unit_{n}.c:" in laid.text for n in range(40))
    words = sum(f"number {n} is wrong" in laid.text for n in range(40))
    assert 1 <= words < named
    assert laid.dropped["files"] == 40 - named
    assert laid.dropped["errors"] == 40 - words
    assert laid.dropped["warnings"] == 7
    assert f"{40 - words} of 40 errors ({named - words} by place), {40 - named} files" in laid.text


def test_where_all_fit_nothing_is_changed():
    laid = form(2).lay(room(400))
    assert "[left out of 400 lines: all but the errors above and the last word; " in laid.text


def test_a_notice_is_never_cut_in_its_middle():
    words = "\n".join(
        f"unit {n} of the build came to a bad end and says so at length" for n in "abc"
    )
    for limit in range(40, 200, 7):
        laid = form(30, 3, head="target all " + "of it " * 80, verdict=words).lay(room(limit))
        notices = [line for line in laid.text.splitlines() if line.startswith("[left out")]
        assert len(notices) >= 1
        assert all(line.endswith("]") and "characters…" not in line for line in notices)
        assert "src/unit_0.c:1" in laid.text


def test_a_build_without_an_error_keeps_its_notice_and_its_last_word():
    laid = Tight([], "built\nand done", 0, 90).lay(room(60))
    assert laid.text == "[left out: most of 90 lines; narrow the call to see more]\nbuilt\nand done"


def test_failures_go_by_their_names():
    tests = [
        Item(
            f"tests::t{n}: panicked at src/t.rs:{n}:5: {'no ' * 40}", key=n, names=(f"tests::t{n}",)
        )
        for n in range(9)
    ]
    laid = Tight([Findings("cargo", tests, by="key", noun="failure")], "", 0, 300).lay(room(150))
    assert all(f"tests::t{n}" in laid.text for n in range(9))
    assert "distinct failures" not in laid.dropped


@given(
    st.lists(st.tuples(st.text(max_size=300), st.text("ab/\\.c", max_size=200)), max_size=12),
    st.text(max_size=400),
    st.text(max_size=400),
    st.integers(min_value=20, max_value=300),
)
def test_it_fits_and_accounts_for_every_error(found, head, verdict, limit):
    items = [Item(f"{file}:1: {said}", file) for said, file in found]
    tight = Tight([Findings("gcc", items, head=head)], verdict, 1, 50)
    laid = tight.lay(room(limit))
    assert room(limit).fits(laid.text)
    assert laid.dropped.get("errors", 0) <= len(items)
    assert laid.dropped.get("files", 0) <= len({item.file for item in items})


def test_the_last_word_does_not_say_again_what_the_target_or_the_error_is():
    moves = "make: Leaving directory '/w'\n" * 40
    lines = text(f"make: *** No rule to make target 'nope'.  Stop.\n{moves}", 200).splitlines()
    assert lines[0] == "make: *** No rule to make target 'nope'.  Stop."
    assert sum("nope" in line for line in lines) == 1
    warnings = "y.c:1:1: warning: bad\n" * 60
    outer = "make[1]: *** [Makefile:3: x.o] Error 1\nmake: *** [all] Error 2\n"
    lines = text(f"x.c:1:1: error: bad\n{outer}{warnings}", 200).splitlines()
    assert [line for line in lines if "***" in line] == outer.splitlines()
