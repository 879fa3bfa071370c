"""npm at any log level, and the dependency trees it draws."""

# ruff: noqa: E501 (the tools write long lines)

import pytest

from policies.reducers.formats.npm import REDUCER
from policies.reducers.formats.npm_tree import REDUCER as TREE
from policies.reducers.log import Log, Span
from policies.reducers.reduction import Output
from policies.reducers.room import Room
from sim.tokens import tokenizer

RESOLVE = """\
npm ERR! code ERESOLVE
npm ERR! ERESOLVE unable to resolve dependency tree
npm ERR!
npm ERR! While resolving: shop@1.0.0
npm ERR! Found: react@17.0.2
npm ERR! node_modules/react
npm ERR!   react@"^17.0.2" from the root project
npm ERR!
npm ERR! Could not resolve dependency:
npm ERR! peer react@"^18.0.0" from ui-kit@4.1.0
npm ERR! A complete log of this run can be found in: /home/u/.npm/_logs/x-debug-0.log
"""

WORKSPACES = """\

> shop@1.0.0 test
> npm run test --workspaces

npm error Lifecycle script `test` failed with error:
npm error code 1
npm error path /w/packages/a
npm error workspace a@1.0.0
npm error location /w/packages/a
npm error command failed
npm error command sh -c vitest run
npm error Lifecycle script `test` failed with error:
npm error code 2
npm error path /w/packages/b
npm error workspace b@1.0.0
npm error location /w/packages/b
npm error command failed
npm error command sh -c tsc
"""

TREE_TEXT = """\
shop@1.0.0 /w/shop
├─┬ express@4.18.2
│ ├── accepts@1.3.8
│ └── UNMET DEPENDENCY body-parser@1.20.1
├── left-pad@1.3.0 invalid: "^2.0.0" from the root project
├── UNMET OPTIONAL DEPENDENCY fsevents@2.3.2
└─┬ @scope/kit@2.0.0
  └── accepts@1.3.8 deduped
"""


def laid(text, limit=4000, reducer=REDUCER):
    return reducer.read(Log.of(text)).lay(Room(limit, tokenizer())).text


def found(text, reducer=REDUCER):
    return reducer.read(Log.of(text)).found()


def test_a_block_is_one_error_with_its_code_and_first_words():
    assert Output(RESOLVE).tool == "npm"
    assert found(RESOLVE).counts == {"npm errors": 1}
    assert found(RESOLVE).files == ()
    text = laid(RESOLVE)
    assert text.startswith("npm ERR! code ERESOLVE; ERESOLVE unable to resolve dependency tree")
    assert 'peer react@"^18.0.0" from ui-kit@4.1.0' in text


def test_each_workspace_that_failed_is_one():
    assert found(WORKSPACES).counts == {"npm errors": 2}
    text = laid(WORKSPACES)
    assert text.startswith("> shop@1.0.0 test\n> npm run test --workspaces")
    assert "code 1; Lifecycle script `test` failed with error:" in text
    assert "command sh -c tsc" in text
    assert list(REDUCER.find(Log.of(WORKSPACES))) == [Span(1, WORKSPACES.count("\n"))]


def test_the_scripts_own_output_is_not_claimed():
    text = "> shop@1.0.0 build\n> tsc\n\n" + "line\n" * 20 + "npm error code 2\n"
    assert list(REDUCER.find(Log.of(text))) == [Span(0, 2), Span(23, 24)]


def test_a_script_without_any_word_of_npm_is_the_scripts():
    assert list(REDUCER.find(Log.of("> shop@1.0.0 build\n> tsc\n\nok\n"))) == []


def test_an_installation_that_went_well():
    text = (
        "npm warn deprecated glob@7.2.3: Glob versions prior to v9 are no longer supported\n"
        "npm warn deprecated rimraf@3.0.2: old\n\n"
        "added 12 packages, and audited 13 packages in 2s\n\nfound 0 vulnerabilities\n"
    )
    assert found(text).counts == {"npm warnings": 2}
    shown = laid(text)
    assert "npm warn deprecated glob@7.2.3" in shown
    assert shown.endswith(
        "added 12 packages, and audited 13 packages in 2s\nfound 0 vulnerabilities"
    )


def test_a_verbose_log_that_ends_badly_shows_what_was_refused():
    text = (
        "npm verbose cli node npm\nnpm http fetch GET 200 https://r/a 5ms\n"
        "npm http fetch GET 403 https://r/b 5ms\nnpm verbose exit 1\n"
    )
    assert found(text).counts == {"npm errors": 1}
    assert "GET 403 https://r/b" in laid(text)
    assert laid(text).endswith("npm verbose exit 1")


def test_a_verbose_log_that_ends_well():
    text = (
        "npm verbose cli node npm\nnpm http fetch GET 404 https://r/opt 5ms\nnpm verbose exit 0\n"
    )
    assert found(text).counts == {}


def test_a_warning_over_several_lines_is_one():
    text = (
        "npm warn cleanup Failed to remove some directories [\nnpm warn cleanup   [\n"
        "npm warn cleanup     '/w/node_modules/x',\nnpm warn cleanup   ]\nnpm warn cleanup ]\n"
    )
    assert found(text).counts == {"npm warnings": 1}


@pytest.mark.parametrize(
    "line",
    [" ERR_PNPM_NO_MATCHING_VERSION  No matching version found for x@9", " ELIFECYCLE  Command failed with exit code 1.",
     "error Command failed with exit code 1."],
)  # fmt: skip
def test_pnpm_and_yarn(line):
    assert found(line).counts == {"npm errors": 1}
    assert line.strip() in laid(line)


@pytest.mark.parametrize(
    "text", ["use npm to install\n", "npm\n", "npm run build\n", "> quote\n> quote\n"]
)
def test_it_claims_nothing_of_others(text):
    assert list(REDUCER.find(Log.of(text))) == []


def test_a_tree_shows_what_is_wrong_then_the_packages_at_the_top():
    assert Output(TREE_TEXT).tool == "npm-ls"
    assert list(TREE.find(Log.of(TREE_TEXT))) == [Span(0, 8)]
    counts = found(TREE_TEXT, TREE).counts
    assert counts == {"packages": 6, "problems": 2}
    lines = laid(TREE_TEXT, reducer=TREE).splitlines()
    assert lines[:3] == [
        "shop@1.0.0 /w/shop",
        "UNMET DEPENDENCY body-parser@1.20.1",
        'left-pad@1.3.0 invalid: "^2.0.0" from the root project',
    ]
    assert "express@4.18.2 (2 below)" in lines
    assert "@scope/kit@2.0.0 (1 below)" in lines


def test_a_tree_in_ascii():
    text = "shop@1.0.0 /w\n+-- a@1.0.0\n| `-- b@2.0.0\n`-- c@3.0.0\n"
    assert list(TREE.find(Log.of(text))) == [Span(0, 4)]
    assert found(text, TREE).counts == {"packages": 3}


@pytest.mark.parametrize("text", ["├── src\n│   └── a.py\n└── b.py\n", "+-- one\n+-- two\n"])
def test_other_trees_are_not_claimed(text):
    assert list(TREE.find(Log.of(text))) == []
