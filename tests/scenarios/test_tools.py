"""What tools declare, in scenario files and in files of their own."""

import json
import pickle

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenarios import catalogue
from scenarios.tools import Tool, blame, is_tools_file, read_tools_file
from sim.errors import InputError
from sim.script import Arrival

SCENARIO = """\
about = "three tools"

[settings]
turns = 3
budget = 50_000

[tools.typecheck]
max_result_tokens = 24_000
reducer = "mypy"

[tools.logs]
max_result_tokens = 2_000
pages = true

[tools."tool 3"]

[[segment]]
id = "own"
turn = 1
kind = "tool_result"
tool = "typecheck"
tokens = 900
max_result_tokens = 500
pages = true

[[segment]]
id = "call"
turn = 1
kind = "tool_call"
tool = "typecheck"
tokens = 30

[[segment]]
id = "read-{turn}"
turns = [2, 3]
kind = "file"
tool = "tool {turn}"
tokens = 100

[[segment]]
id = "other"
turn = 2
kind = "tool_result"
tool = "undeclared"
tokens = 70_000

[[attempt]]
number = 1
turn = 2
segment = [{ id = "logs-1", kind = "tool_result", tool = "logs", tokens = 9_000 }]

[[attempt]]
number = 2
turn = 3
needs = { facts = ["f"] }
segment = [{ id = "both", kind = "note", tokens = 5, facts = [{ key = "f" }] }]
ok.segment = [{ id = "check-2", kind = "tool_result", tool = "typecheck", tokens = 40 }]
failed.segment = [{ id = "check-2", kind = "tool_result", tool = "typecheck", tokens = 60_000 }]

[flips.small]
tools.typecheck.max_result_tokens = 8_000
tools.undeclared = { max_result_tokens = 100, pages = true }

[variants.more]
add.segment = [{ id = "more", turn = 1, kind = "tool_result", tool = "logs", tokens = 5 }]
change.own.tokens = 901
"""

LIST = [
    {
        "name": "typecheck",
        "description": "Checks types.",
        "input_schema": {"type": "object", "properties": {"calls": {"type": "integer"}}},
        "cache_control": {"type": "ephemeral"},
        "max_result_tokens": 24000,
        "reducer": "mypy",
    },
    {
        "type": "function",
        "function": {"name": "search", "parameters": {}, "strict": True, "pages": True},
        "max_result_tokens": 4000,
        "calls": 3,
    },
    {"type": "function", "name": "flat", "parameters": {}, "max_result_tokens": 40},
    {"type": "web_search_20250305", "name": "web", "max_uses": 5, "max_result_tokens": 50},
    {"type": "code_interpreter", "container": {"type": "auto"}, "reducer": None},
    {"toolSpec": {"name": "spec", "inputSchema": {"json": {}}, "max_result_tokens": 60}},
    {"name": "mcp", "inputSchema": {"type": "object"}, "annotations": {}, "_meta": {}},
    {"functionDeclarations": [{"name": "one", "max_result_tokens": 70}, {"name": "two"}]},
]


@pytest.fixture
def write(tmp_path):
    """Writes a file and returns its path."""

    def write(text, name="mine.toml"):
        file = tmp_path / name
        file.write_text(text if isinstance(text, str) else json.dumps(text, indent=1), "utf-8")
        return file

    return write


def limits(script):
    guarded = (s for attempt in script.attempts for s in (*attempt.ok, *attempt.failed))
    found = (s for s in (*script.stimuli, *guarded) if isinstance(s, Arrival))
    return {(s.id, s.tokens): (s.max_result_tokens, s.pages) for s in found}


def faults(file, read=read_tools_file):
    with pytest.raises(InputError) as caught:
        read(file)
    return [line.replace(f"{file.parent}/", "") for line in str(caught.value).split("\n")]


class TestInAScenario:
    def test_a_segment_takes_what_its_tool_declares(self, write):
        assert limits(catalogue.load(str(write(SCENARIO))).script(0)) == {
            ("own", 900): (500, True),
            ("call", 30): (None, False),
            ("read-2", 100): (None, False),
            ("read-3", 100): (None, False),
            ("other", 70_000): (None, False),
            ("logs-1", 9_000): (2_000, True),
            ("both", 5): (None, False),
            ("check-2", 40): (24_000, False),
            ("check-2", 60_000): (24_000, False),
        }

    def test_the_turn_in_a_name_is_filled_in_first(self, write):
        text = SCENARIO.replace('[tools."tool 3"]', '[tools."tool 3"]\nmax_result_tokens = 77')
        found = limits(catalogue.load(str(write(text))).script(0))
        assert found["read-2", 100] == (None, False)
        assert found["read-3", 100] == (77, False)

    def test_a_flip_changes_a_declaration_and_makes_one(self, write):
        found = limits(catalogue.load(f"{write(SCENARIO)}/small").script(0))
        assert found["check-2", 60_000] == (8_000, False)
        assert found["own", 900] == (500, True)
        assert found["other", 70_000] == (100, True)
        assert found["logs-1", 9_000] == (2_000, True)

    def test_what_a_variant_adds_takes_it_too(self, write):
        found = limits(catalogue.load(f"{write(SCENARIO)}/more").script(0))
        assert found["more", 5] == (2_000, True)
        assert found["own", 901] == (500, True)

    def test_the_scenario_says_what_is_declared(self, write):
        path = write(SCENARIO)
        scenario = catalogue.load(str(path))
        assert scenario.tools == {
            "typecheck": Tool("typecheck", 24_000, "mypy"),
            "logs": Tool("logs", 2_000, pages=True),
            "tool 3": Tool("tool 3"),
        }
        assert catalogue.load(f"{path}/small").tools["typecheck"].max_result_tokens == 8_000
        assert pickle.loads(pickle.dumps(scenario)).tools == scenario.tools
        assert catalogue.load("coding-agent").tools == {}

    def test_the_story_declares_its_tools(self):
        declared = catalogue.load("signature-change").tools
        assert declared["typecheck"] == Tool("typecheck", 24_000)
        assert sorted(declared) == ["lint", "read", "tests", "typecheck"]
        found = limits(catalogue.load("signature-change").script(0))
        assert {key[0] for key, (limit, _) in found.items() if limit == 24_000} == {
            *(f"typecheck-{number}" for number in (1, 2, 3, 4)),
            "tests-1",
        }
        found = limits(catalogue.load("signature-change/no-limit").script(0))
        assert {limit for limit, _ in found.values()} == {None, 9_000, 20_000, 24_000, 100_000}

    @pytest.mark.parametrize(
        ("old", "new", "sentences"),
        [
            (
                "max_result_tokens = 24_000",
                "max_result_tokens = 39",
                [
                    "mine.toml:8: tool 'typecheck': max_result_tokens must be a whole number from "
                    "40 to 1,000,000,000, not 39"
                ],
            ),
            (
                'reducer = "mypy"',
                "reducers = 3",
                ["mine.toml:9: tool 'typecheck': unknown key 'reducers'; did you mean 'reducer'?"],
            ),
            (
                "pages = true\n\n[tools.",
                'pages = "yes"\ncalls = 2\n\n[tools.',
                [
                    "mine.toml:13: tool 'logs': pages must be true or false, not 'yes'",
                    "mine.toml:14: tool 'logs': unknown key 'calls'; known: max_result_tokens, "
                    "pages, reducer",
                ],
            ),
            (
                "[tools.typecheck]",
                "[tool.typecheck]",
                ["mine.toml:7: the file: unknown key 'tool'; did you mean 'tools'?"],
            ),
            (
                '[tools."tool 3"]',
                "[tools]\nlint = 3",
                ["mine.toml:16: tools.lint must be a table"],
            ),
            (
                '[tools."tool 3"]',
                '[tools." "]',
                ["mine.toml:15: a tool needs a name"],
            ),
            (
                "tools.typecheck.max_result_tokens = 8_000",
                "tools.typecheck.max_result_tokens = 8",
                [
                    "mine.toml:61: tool 'typecheck': max_result_tokens must be a whole number "
                    "from 40 to 1,000,000,000, not 8"
                ],
            ),
            (
                "tools.typecheck.max_result_tokens = 8_000",
                "tools.typecheck = 8_000",
                ["mine.toml:61: tools.typecheck must be a table"],
            ),
        ],
    )
    def test_wrong(self, write, old, new, sentences):
        assert SCENARIO.count(old) == 1
        file = write(SCENARIO.replace(old, new))
        assert faults(file, lambda file: catalogue.load(str(file))) == sentences

    def test_a_family_has_its_own_tools(self, write):
        file = write('family = "coding-agent"\n[tools.lint]\nmax_result_tokens = 90\n')
        assert faults(file, lambda file: catalogue.load(str(file))) == [
            "mine.toml:2: tool 'lint': the tools come from family 'coding-agent'"
        ]


class TestToolsFiles:
    def test_toml(self, write):
        found = read_tools_file(
            write(
                'about = "a\\n loop"\n[loop]\nbudget = 9\nfill = 0\n[tools.b]\ncalls = 0\n'
                '[tools.a]\nmax_result_tokens = 40\npages = true\nreducer = "mypy"\n'
            )
        )
        assert found.about == "a loop"
        assert found.loop == {"budget": 9, "fill": 0}
        assert list(found.tools.values()) == [
            Tool("b", calls=0),
            Tool("a", 40, "mypy", pages=True),
        ]

    @pytest.mark.parametrize("wrap", [lambda tools: tools, lambda tools: {"tools": tools}])
    def test_the_shapes_of_providers(self, write, wrap):
        found = read_tools_file(write(wrap(LIST), "mine.json"))
        assert found.loop == {}
        assert list(found.tools.values()) == [
            Tool("typecheck", 24_000, "mypy"),
            Tool("search", 4_000, pages=True, calls=3),
            Tool("flat", 40),
            Tool("web", 50),
            Tool("code_interpreter"),
            Tool("spec", 60),
            Tool("mcp"),
            Tool("one", 70),
            Tool("two"),
        ]

    def test_json_with_a_loop(self, write):
        text = {"tools": LIST[:1], "loop": {"attempts": 2}}
        assert read_tools_file(write(text, "mine.json")).loop == {"attempts": 2}

    @pytest.mark.parametrize(
        ("text", "sentences"),
        [
            ("", ["mine.toml: it declares no tool"]),
            ("[tool.a]\n", ["mine.toml:1: the file: unknown key 'tool'; did you mean 'tools'?"]),
            (
                "[tools.a]\nmax_result_token = 50\n[tools.b]\ncalls = -1\n[loop]\nbuget = 3\n"
                "fill = 1.5\n",
                [
                    "mine.toml:2: tool 'a': unknown key 'max_result_token'; did you mean "
                    "'max_result_tokens'?",
                    "mine.toml:4: tool 'b': calls must be a whole number from 0 to 1,000, not -1",
                    "mine.toml:6: loop: unknown key 'buget'; did you mean 'budget'?",
                    "mine.toml:7: loop: fill must be a whole number from 0 to 1,000,000,000, "
                    "not 1.5",
                ],
            ),
            ("tools = 3\n", ["mine.toml:1: the file: tools must be a table, not 3"]),
            (
                "loop = [1]\n[tools]\na = 1\n",
                [
                    "mine.toml:1: the file: loop must be a table, not [1]",
                    "mine.toml:3: tools.a must be a table",
                ],
            ),
            (
                "[tools.a\n",
                ["mine.toml:1: not valid TOML: expected ']' at the end of a table decl"],
            ),
        ],
    )
    def test_wrong_toml(self, write, text, sentences):
        found = faults(write(text))
        assert len(found) == len(sentences)
        for said, sentence in zip(found, sentences, strict=True):
            assert said.startswith(sentence)

    @pytest.mark.parametrize(
        ("text", "sentences"),
        [
            ("3", ["mine.json: it must hold a list of tools, or one under the key tools"]),
            ("[]", ["mine.json: it declares no tool"]),
            ("[\n3]", ["mine.json:2: a tool must be a table"]),
            ('{"tools": 3}', ["mine.json:1: the file: tools must be an array of tables, not 3"]),
            (
                '{"tool": []}',
                [
                    "mine.json: the file lacks tools",
                    "mine.json:1: the file: unknown key 'tool'; did you mean 'tools'?",
                ],
            ),
            (
                '{"tools": [],\n"model": "x"}',
                ["mine.json:2: the file: unknown key 'model'; known:"],
            ),
            ('[\n{"description": "x"}]', ["mine.json:2: a tool lacks its name"]),
            ('[{"name": ""}]', ["mine.json:1: a tool lacks its name"]),
            ('[{"type": "function"}]', ["mine.json:1: a tool lacks its name"]),
            ('[{"name": "a"},\n{"name": "a"}]', ["mine.json:2: tool 'a' is declared twice"]),
            (
                '[{"name": "a",\n"max_result_tokens": 39,\n"max_results_tokens": 1}]',
                [
                    "mine.json:2: tool 'a': max_result_tokens must be a whole number from 40",
                    "mine.json:3: tool 'a': unknown key 'max_results_tokens'; did you mean 'max_r",
                ],
            ),
            (
                '[{"calls": 1, "function":\n{"name": "a",\n"calls": 2}}]',
                ["mine.json:3: tool 'a': calls is given twice"],
            ),
            (
                '[{"name": "a",\n"name": "b"}]',
                ["mine.json:1: key 'name' is given a second time in line 2"],
            ),
            ('[{"functionDeclarations": [\n4]}]', ["mine.json:2: a tool must be a table"]),
            ("[", ["mine.json:1: not valid JSON: "]),
        ],
    )
    def test_wrong_json(self, write, text, sentences):
        found = faults(write(text, "mine.json"))
        assert [said[: len(s)] for said, s in zip(found, sentences, strict=True)] == sentences

    def test_what_is_none(self, write):
        assert is_tools_file(write("[tools.a]\n"))
        assert is_tools_file(write(""))
        assert not is_tools_file(write(SCENARIO))
        assert not is_tools_file(write('family = "coding-agent"\n'))
        assert is_tools_file(write("[]", "a.json"))
        assert not is_tools_file(write('{"evictbench_script": 9}', "a.json"))

    def test_blame(self, write):
        file = write("[tools.a]\n[tools.b]\n")
        blame(file, [])
        found = [(f"no {tool.name}", tool.at) for tool in read_tools_file(file).tools.values()]
        assert faults(file, lambda file: blame(file, found)) == [
            "mine.toml:1: no a",
            "mine.toml:2: no b",
        ]


_KEYS = [
    *("tools", "loop", "name", "type", "function", "toolSpec", "functionDeclarations"),
    *("max_result_tokens", "reducer", "pages", "calls", "budget", "x"),
]
_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(data=_ANYTHING)
@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_json_is_read_or_refused(tmp_path, data):
    file = tmp_path / "any.json"
    file.write_text(json.dumps(data))
    try:
        found = read_tools_file(file)
    except InputError as error:
        assert str(error)
        return
    assert found.tools
    for tool in found.tools.values():
        assert tool.name.strip()
        assert tool.max_result_tokens is None or tool.max_result_tokens >= 40


@given(at=st.integers(0, len(SCENARIO)), junk=st.text("[]{}=.\"'\n#a1é", max_size=4))
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_damaged_scenario_is_read_or_refused(tmp_path, at, junk):
    file = tmp_path / "any.toml"
    file.write_text(SCENARIO[:at] + junk + SCENARIO[at + len(junk) :], encoding="utf-8")
    for read in (read_tools_file, is_tools_file, lambda file: catalogue.load(str(file))):
        try:
            read(file)
        except InputError as error:
            assert str(error)


LINT = {"name": "lint", "max_result_tokens": 200, "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    "answer",
    [
        {"tools": [LINT], "nextCursor": "page-2"},
        {"tools": [LINT], "nextCursor": None, "_meta": {"a": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [LINT], "nextCursor": "page-2"}},
    ],
)
def test_an_mcp_server_s_answer_is_read(tmp_path, answer):
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(answer))
    found = read_tools_file(file).tools
    assert {name: tool.max_result_tokens for name, tool in found.items()} == {"lint": 200}


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"result": {"tools": [LINT | {"max_result_tokens": 3}]}}, '"max_result_tokens"'),
        ({"result": {"tools": [LINT], "nxtCursor": 1}}, '"nxtCursor"'),
    ],
)
def test_what_is_wrong_in_an_mcp_server_s_answer_has_its_line(tmp_path, wrong, line):
    file = tmp_path / "tools.json"
    file.write_text(json.dumps({"jsonrpc": "2.0"} | wrong, indent=1))
    with pytest.raises(InputError) as raised:
        read_tools_file(file)
    lines = file.read_text().splitlines()
    at = next(n for n, text in enumerate(lines, 1) if line in text)
    assert str(raised.value).startswith(f"{file}:{at}: ")
