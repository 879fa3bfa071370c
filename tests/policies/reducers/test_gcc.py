"""gcc and its kin: every layout by hand, and lines that only look like theirs."""

# ruff: noqa: E501 (the tools write long lines)

import pytest

from policies.reducers.formats.gcc import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

GXX = """\
In file included from src/shapes/circle.cpp:3:
include/shapes/base.hpp:14:21: error: 'Colour' does not name a type; did you mean 'Color'?
   14 |     virtual void tint(Colour c) = 0;
      |                     ^~~~~~
      |                     Color
src/shapes/circle.cpp: In member function 'double Circle::area() const':
src/shapes/circle.cpp:22:12: error: 'radius' was not declared in this scope
   22 |     return radius * radius * 3.14;
      |            ^~~~~~
src/shapes/circle.cpp:30:9: warning: unused variable 'n' [-Wunused-variable]
   30 |     int n;
      |         ^
src/shapes/circle.cpp:41:5: note: in expansion of macro 'CHECK'
src/shapes/circle.cpp:44:1: error: expected '}' at end of input
"""

CLANG = """\
main.m:7:10: fatal error: 'Widget/Widget.h' file not found
    7 | #import <Widget/Widget.h>
      |         ^~~~~~~~~~~~~~~~~
2 warnings and 1 error generated.
"""

LINKER = """\
/usr/bin/ld: build/main.o: in function `main':
main.c:(.text+0x1f): undefined reference to `start_engine'
/usr/bin/ld: build/main.o:/repo/engine.c:88: undefined reference to `stop_engine'
/usr/bin/ld: build/b.o:b.c:(.bss+0x0): multiple definition of `count'; build/a.o:a.c:(.bss+0x0): first defined here
/usr/bin/ld: cannot find -lfoo: No such file or directory
collect2: error: ld returned 1 exit status
"""


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def counts(text):
    return dict(REDUCER.read(Log.of(text)).found().counts)


def test_the_first_error_of_each_file_in_the_order_printed():
    found = Output(GXX).found()
    assert Output(GXX).tool == "gcc"
    assert found.files == ("include/shapes/base.hpp", "src/shapes/circle.cpp")
    assert found.counts == {"errors": 3, "warnings": 1, "files": 2}
    text = laid(GXX)
    assert "base.hpp:14:21: error: 'Colour' does not" in text
    assert "circle.cpp:22:12: error: 'radius' was not declared in this scope (+1 more)" in text
    assert "In file included from src/shapes/circle.cpp:3:" in text
    assert "|            ^~~~~~" in text
    assert "circle.cpp:44:1" not in text
    assert "1 warning" in text


def test_all_of_a_run_is_one_span():
    before = "$ ./configure\nchecking for ranlib\n"
    log = Log.of(f"{before}{GXX}\ng++ -c other.cpp\nother.cpp:1:1: error: bad\ndone\n")
    assert list(REDUCER.find(log)) == [Span(2, 2 + GXX.count("\n") + 3)]


def test_clang_and_its_count():
    assert counts(CLANG) == {"errors": 1, "files": 1}
    assert laid(CLANG).endswith("2 warnings and 1 error generated.")


def test_warnings_stand_in_where_there_is_no_error():
    text = (
        "a.c:1:2: warning: x [-Wx]\na.c:9:2: warning: y\nb.c:3: warning: z\n3 warnings generated.\n"
    )
    assert counts(text) == {"warnings": 3, "files": 2}
    shown = laid(text)
    assert "a.c:1:2: warning: x [-Wx] (+1 more)" in shown
    assert "b.c:3: warning: z" in shown


def test_the_linker_names_the_source_it_knows():
    found = Output(LINKER).found()
    assert found.files == ("main.c", "/repo/engine.c", "b.c")
    assert found.counts == {"errors": 4, "files": 3}
    text = laid(LINKER)
    assert "cannot find -lfoo" in text
    assert text.endswith("collect2: error: ld returned 1 exit status")


@pytest.mark.parametrize(
    ("line", "file"),
    [
        (r"C:\src\win main.cpp:5:2: error: no", r"C:\src\win main.cpp"),
        ('kernel.cu(12): error: identifier "dim" is undefined', "kernel.cu"),
        ("<command-line>:0: error: missing name", "<command-line>"),
        ("boot.S:7: Error: no such instruction: `movv %eax'", "boot.S"),
        ("{standard input}:3: Error: junk at end of line", "{standard input}"),
        ("solver.f90:3:10: Error: syntax", "solver.f90"),
        (
            "/usr/include/c++/13/bits/hashtable:9:1: error: no type",
            "/usr/include/c++/13/bits/hashtable",
        ),
        ("gui.cpp:4:1: internal compiler error: Segmentation fault", "gui.cpp"),
        ("a/b.cc:4:1: Fehler: »x« wurde nicht deklariert", "a/b.cc"),
        ("a/b.cc:4:1: erreur: « x » non déclaré", "a/b.cc"),
        ("a/b.cc:4:1: エラー: 'x' が宣言されていません", "a/b.cc"),
        ("a/b.cc:4:1: 错误：‘x’ 未声明", "a/b.cc"),
        ("lib.so: undefined reference to `f'", "lib.so"),
        ("libz.a(z.o): undefined reference to `f'", "libz.a(z.o)"),
        ("/usr/bin/ld: libz.a(z.o): undefined reference to `f'", "libz.a(z.o)"),
        ('"src/arm.c", line 12: Error:  #20: identifier "x" is undefined', "src/arm.c"),
        ("    ext/mod.c:8:3: error: indented by a package builder", "ext/mod.c"),
    ],
)
def test_layouts(line, file):
    found = REDUCER.read(Log.of(line)).found()
    assert found.files == (file,)
    assert found.counts["errors"] == 1


@pytest.mark.parametrize(
    "line",
    [
        "gcc: error: nofile.c: No such file or directory",
        "arm-none-eabi-g++: fatal error: no input files",
        "/opt/x/bin/clang++: error: unsupported option '--foo'",
        "ld.lld: error: undefined symbol: render",
        "/usr/bin/ld: cannot find crt1.o: No such file or directory",
        "Undefined symbols for architecture arm64:",
    ],
)
def test_errors_without_a_file(line):
    found = REDUCER.read(Log.of(line)).found()
    assert found.files == ()
    assert found.counts == {"errors": 1}
    assert line in laid(line)


def test_several_errors_without_a_file_stand_below_the_first():
    text = (
        "gcc: error: a.c: No such file or directory\ngcc: error: b.c: No such file or directory\n"
    )
    assert counts(text) == {"errors": 2}
    assert "b.c: No such file" in laid(text)


@pytest.mark.parametrize(
    "text",
    [
        "src/app.py:12: error: Incompatible types\n",
        "src/App.java:12: error: cannot find symbol\n",
        "src/app.ts:3:1: error: nothing\n",
        "12:30:01: error: the clock is no file\n",
        "ValueError: error: x\n",
        "see include/x.h:12 for error: handling\n",
        "Makefile:3: warning: overriding recipe for target 'all'\n",
        "patch.diff:12: trailing whitespace.\nwarning: 1 line adds whitespace errors.\n",
        "old: undefined reference to nothing in prose\n",
        "fatal: not a git repository\n",
        "http://host:80: error: refused\n",
    ],
)
def test_it_claims_nothing_of_others(text):
    assert list(REDUCER.find(Log.of(text))) == []


def test_a_command_before_the_path_is_no_part_of_it():
    text = "clang-tidy-17 -p=build -checks=* src/a.cpp:3:4: warning: loop [x-y]\n"
    assert REDUCER.read(Log.of(text)).found().files == ("src/a.cpp",)


def test_a_warning_that_goes_on_is_one():
    text = "w.cc:6: warning: passing 'T' chooses 'int'\nw.cc:6: warning:   in call to 'f(int)'\n"
    assert counts(text) == {"warnings": 1, "files": 1}


def test_what_is_left_out_is_counted_when_it_does_not_fit():
    text = "".join(f"src/f{n}.c:{n + 1}:1: error: wrong thing number {n}\n" for n in range(300))
    form = REDUCER.read(Log.of(text))
    room = Room(500, tokenizer())
    result = form.lay(room)
    assert room.fits(result.text)
    shown = sum(f"src/f{n}.c:" in result.text for n in range(300))
    assert result.dropped["files"] == 300 - shown
    in_words = sum(f"wrong thing number {n}\n" in result.text for n in range(300))
    assert 0 < in_words < shown
    assert result.dropped["errors"] == 300 - in_words
    counted = f"{300 - in_words} of 300 errors ({shown - in_words} by place), {300 - shown} files"
    assert counted in result.text


TEMPLATES = (
    """\
main.cpp: In function 'int main()':
main.cpp:9:20: error: no match for 'operator<' (operand types are 'Pump' and 'Pump')
    9 |     return a < b;
      |            ~ ^ ~
"""
    + "".join(
        f"""\
In file included from /usr/include/c++/12/bits/part_{n}.h:{n},
                 from /usr/include/c++/12/map:60:
/usr/include/c++/12/bits/part_{n}.h:7:5: note: candidate: 'bool operator<(const P{n}&)'
    7 |     operator<(const P{n}& other)
      |     ^~~~~~~~
/usr/include/c++/12/bits/part_{n}.h:7:5: note:   template argument deduction/substitution failed:
"""
        for n in range(1, 30)
    )
    + """\
/usr/include/c++/12/bits/less.h: In instantiation of 'bool less(const T&) [with T = Pump]':
/usr/include/c++/12/bits/tree.h:8:3:   required from 'void insert(T)'
main.cpp:12:7:   required from here
/usr/include/c++/12/bits/less.h:40:20: error: no match for 'operator<'
   40 |     return x < y;
      |            ~~^~~
/usr/include/c++/12/bits/part_9.h:7:5: note: candidate: 'bool operator<(const P9&)'
    7 |     operator<(const P9& other)
      |     ^~~~~~~~
"""
)


def test_candidates_and_templates_are_a_part_of_the_run_of_a_compiler():
    whole = Output(f"start\n{TEMPLATES}end\n")
    assert whole.tool == "gcc"
    lines = TEMPLATES.count("\n")
    assert [(section.tool, len(section.log)) for section in whole.sections] == [
        ("log", 1),
        ("gcc", lines),
        ("log", 1),
    ]
    assert whole.found().counts == {"errors": 2, "files": 2}


def test_notes_alone_are_no_run():
    text = "main.cpp:9:20: note: candidate: 'bool f()'\nmain.cpp:12:7:   required from here\n"
    assert list(REDUCER.find(Log.of(text))) == []
