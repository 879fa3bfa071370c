"""pip's builds: the package that stopped, the compiler's error, and what pip itself refuses."""

# ruff: noqa: E501 (the tools write long lines)

import pytest

from policies.reducers.formats.pip import REDUCER
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

FAILED = """\
Collecting fastsum
  Downloading fastsum-1.0.tar.gz (12 kB)
  Installing build dependencies: started
  Installing build dependencies: finished with status 'done'
Building wheels for collected packages: fastsum
  Building wheel for fastsum (pyproject.toml): started
  error: subprocess-exited-with-error

  × Building wheel for fastsum (pyproject.toml) did not run successfully.
  │ exit code: 1
  ╰─> [12 lines of output]
      running build_ext
      building 'fastsum' extension
      gcc -Wall -c src/sum.c -o build/sum.o
      src/sum.c:4:10: fatal error: Python.h: No such file or directory
          4 | #include <Python.h>
            |          ^~~~~~~~~~
      compilation terminated.
      error: command '/usr/bin/gcc' failed with exit code 1
      [end of output]

  note: This error originates from a subprocess, and is likely not a problem with pip.
  ERROR: Failed building wheel for fastsum
Failed to build fastsum
ERROR: Could not build wheels for fastsum, which is required to install pyproject.toml-based projects
"""

PYTHON = """\
Collecting oldlib
  Running command Getting requirements to build wheel
  Traceback (most recent call last):
    File "/tmp/x/setup.py", line 3, in <module>
      import numpy
  ModuleNotFoundError: No module named 'numpy'
  error: subprocess-exited-with-error

  × Getting requirements to build wheel did not run successfully.
  │ exit code: 1
  ╰─> See above for output.
"""


def laid(text, limit=4000):
    return REDUCER.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def found(text):
    return REDUCER.read(Log.of(text)).found()


def test_the_compilers_error_and_the_package():
    assert Output(FAILED).tool == "pip"
    assert found(FAILED).files == ("src/sum.c",)
    assert found(FAILED).counts == {"errors": 1, "files": 1}
    lines = laid(FAILED).splitlines()
    assert "fastsum" in lines[0]
    assert lines[1].startswith("src/sum.c:4:10: fatal error: Python.h")
    assert "Failed to build fastsum" in "\n".join(lines[-2:])
    assert list(REDUCER.find(Log.of(FAILED))) == [Span(0, FAILED.count("\n"))]


def test_an_exception_of_setup_py():
    assert Output(PYTHON).tool == "pip"
    assert found(PYTHON).counts == {"errors": 1}
    text = laid(PYTHON)
    assert "ModuleNotFoundError: No module named 'numpy'" in text
    assert "Getting requirements to build wheel did not run successfully" in text
    assert 'File "/tmp/x/setup.py", line 3' in text


def test_what_pip_itself_refuses():
    text = (
        "ERROR: Could not find a version that satisfies the requirement nosuch==9 (from versions: none)\n"
        "ERROR: No matching distribution found for nosuch==9\n"
    )
    assert Output(text).tool == "pip"
    assert "requirement nosuch==9" in laid(text)
    assert "No matching distribution found for nosuch==9" in laid(text)


def test_success_is_what_was_built_and_the_number_of_warnings():
    text = (
        "Collecting a\n  Running command Building wheel for a (pyproject.toml)\n  running build_ext\n"
        "  src/a.c:1:1: warning: unused [-Wunused]\n  warning: no files found matching 'README'\n"
        "  Building wheel for a (pyproject.toml): finished with status 'done'\nSuccessfully built a\n"
    )
    assert found(text).counts == {"warnings": 2}
    assert found(text).files == ()
    assert laid(text).endswith("Successfully built a")
    assert "2 warnings" in laid(text)


@pytest.mark.parametrize(
    "text",
    [
        "Requirement already satisfied: x in /y\nSuccessfully installed z-1\n",
        "Collecting data from 3 sensors\nerror: lost\n",
        "ERROR: the server is down\n",
        "Running command line tools\n",
    ],
)
def test_it_claims_nothing_of_others(text):
    assert list(REDUCER.find(Log.of(text))) == []
