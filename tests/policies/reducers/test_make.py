"""make, ninja and CMake: the target of the first error, and what else failed."""

# ruff: noqa: E501 (the tools write long lines)

from policies.reducers.formats.make import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

MAKE = """\
make[1]: Entering directory '/src/lib'
cc -Wall -c -o util.o util.c
util.c: In function 'trim':
util.c:18:5: warning: implicit declaration of function 'strlen' [-Wimplicit]
   18 |     strlen(s);
      |     ^~~~~~
cc -Wall -c -o parse.o parse.c
parse.c:7:9: error: 'tok' undeclared (first use in this function)
    7 |   while (tok)
      |          ^~~
make[1]: *** [Makefile:14: parse.o] Error 1
make[1]: Leaving directory '/src/lib'
make: *** [Makefile:3: lib] Error 2
"""

PARALLEL = """\
[ 10%] Building CXX object CMakeFiles/app.dir/a.cpp.o
[ 20%] Building CXX object CMakeFiles/app.dir/b.cpp.o
/w/b.cpp:2:1: error: unknown type name 'strng'
/w/a.cpp:5:1: error: expected ';'
make[2]: *** [CMakeFiles/app.dir/build.make:76: CMakeFiles/app.dir/a.cpp.o] Error 1
make[2]: *** Waiting for unfinished jobs....
make[2]: *** [CMakeFiles/app.dir/build.make:90: CMakeFiles/app.dir/b.cpp.o] Error 1
make[1]: *** [CMakeFiles/Makefile2:83: CMakeFiles/app.dir/all] Error 2
make: *** [Makefile:91: all] Error 2
"""

NINJA = """\
[1/9] Building C object one.c.o
[2/9] Building C object two.c.o
FAILED: two.c.o
/usr/bin/cc -Iinclude -c two.c -o two.c.o
two.c:3:10: fatal error: gone.h: No such file or directory
    3 | #include "gone.h"
      |          ^~~~~~~~
compilation terminated.
[3/9] Building C object three.c.o
ninja: build stopped: subcommand failed.
"""

CMAKE = """\
-- The C compiler identification is GNU 13.2.0
-- Looking for pthread.h - found
CMake Warning (dev) at cmake/Opt.cmake:4 (option):
  Policy CMP0077 is not set.

CMake Error at CMakeLists.txt:12 (find_package):
  By not providing "FindZed.cmake" in CMAKE_MODULE_PATH this project has
  asked CMake to find a package configuration file.

Call Stack (most recent call first):
  tools/CMakeLists.txt:3 (include)


CMake Error: CMAKE_CXX_COMPILER not set, after EnableLanguage
-- Configuring incomplete, errors occurred!
See also "/w/build/CMakeFiles/CMakeOutput.log".
"""


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def found(text):
    return REDUCER.read(Log.of(text)).found()


def test_the_target_stands_above_the_first_error_and_the_last_word_below():
    assert Output(MAKE).tool == "make"
    lines = laid(MAKE).splitlines()
    assert lines[0] == "make[1]: *** [Makefile:14: parse.o] Error 1"
    assert lines[1].startswith("parse.c:7:9: error: 'tok' undeclared")
    assert lines[-1] == "make: *** [Makefile:3: lib] Error 2"
    assert found(MAKE).files == ("parse.c",)
    assert found(MAKE).counts == {"errors": 1, "warnings": 1, "files": 1}


def test_the_compilers_lines_are_inside():
    log = Log.of(f"$ date\n{MAKE}\n$ echo done\n")
    assert list(REDUCER.find(log)) == [Span(1, 1 + MAKE.count("\n"))]


def test_of_several_targets_the_one_with_the_name_of_the_file_is_meant():
    text = laid(PARALLEL)
    assert text.splitlines()[0] == (
        "make[2]: *** [CMakeFiles/app.dir/build.make:90: CMakeFiles/app.dir/b.cpp.o] Error 1"
        " (+1 more failed targets)"
    )
    assert found(PARALLEL).files == ("/w/b.cpp", "/w/a.cpp")


def test_ninja_names_the_target_above():
    lines = laid(NINJA).splitlines()
    assert lines[0] == "FAILED: two.c.o"
    assert lines[1].startswith("two.c:3:10: fatal error: gone.h")
    assert lines[-1] == "ninja: build stopped: subcommand failed."
    assert Output(NINJA).tool == "make"


def test_cmake():
    assert Output(CMAKE).tool == "make"
    result = found(CMAKE)
    assert result.files == ("CMakeLists.txt",)
    assert result.counts == {"errors": 2, "warnings": 1, "files": 1}
    text = laid(CMAKE)
    assert 'CMakeLists.txt:12 (find_package): By not providing "FindZed.cmake"' in text
    assert "tools/CMakeLists.txt:3 (include)" in text
    assert "CMake Error: CMAKE_CXX_COMPILER not set" in text
    assert text.endswith("-- Configuring incomplete, errors occurred!")
    assert list(REDUCER.find(Log.of(CMAKE))) == [Span(0, CMAKE.count("\n"))]


def test_a_target_that_fails_by_no_compiler_is_the_error_with_what_it_printed():
    text = (
        "make: Entering directory '/d'\n./gen.sh > table.c\n./gen.sh: line 3: jq: not found\n"
        "make: *** [Makefile:8: table.c] Error 127\n"
    )
    assert found(text).counts == {"errors": 1}
    shown = laid(text)
    assert "make: *** [Makefile:8: table.c] Error 127" in shown
    assert "jq: not found" in shown


def test_no_rule_and_missing_separator():
    text = "make: *** No rule to make target 'x.o', needed by 'prog'.  Stop.\n"
    assert found(text).counts == {"errors": 1}
    assert "needed by 'prog'" in laid(text)
    text = "make: Entering directory '/d'\nMakefile:5: *** missing separator.  Stop.\n"
    assert found(text).files == ("Makefile",)


def test_success_is_the_last_word_and_the_number_of_warnings():
    text = "[ 50%] Building C object a.c.o\na.c:1:1: warning: x\n[100%] Built target prog\n"
    assert found(text).counts == {"warnings": 1, "files": 1}
    assert laid(text).endswith("[100%] Built target prog")
    text = "make: Nothing to be done for 'all'.\n"
    assert laid(text).endswith("make: Nothing to be done for 'all'.")
    assert found(text).counts == {}


def test_keep_going_counts_only_targets_that_failed_themselves():
    text = (
        "make[1]: *** [Makefile:4: a] Error 1\nmake[1]: Target 'all' not remade because of errors.\n"
        "make: *** [Makefile:2: sub1] Error 2\nmake[1]: *** [Makefile:9: b] Error 1\n"
        "make: *** [Makefile:2: sub2] Error 2\n"
    )
    assert found(text).counts == {"errors": 2}
    assert "[Makefile:9: b] Error 1" in laid(text)


def test_checkers_inside_a_make_run_keep_their_own_reducer():
    text = (
        "make: Entering directory '/d'\nmypy src\nsrc/a.py:1: error: Bad  [misc]\n"
        "Found 1 error in 1 file (checked 2 source files)\nmake: *** [Makefile:2: lint] Error 1\n"
    )
    assert set(Output(text).tool.split("+")) == {"make", "mypy"}


def test_it_claims_nothing_of_others():
    for text in (
        "we make: a list\n",
        "-- \n2.39.0\n",
        "-- select 1;\n",
        "FAILED tests/test_a.py::test_b - assert 1 == 2\n",
        "progress 50%] done\n",
        "* make[1] a note\n",
    ):
        assert list(REDUCER.find(Log.of(text))) == [], text


def test_a_clock_is_no_file():
    text = (
        "make: Entering directory '/d'\n12:30:01: error: lost\nmake: *** [Makefile:2: x] Error 1\n"
    )
    assert found(text).files == ()
