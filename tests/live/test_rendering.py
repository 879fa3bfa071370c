"""How segments become messages, worked by hand. Tokens are words."""

from __future__ import annotations

import pytest

import policies
from sim.actions import Admit, Evict, Refuse, Reveal, Rewrite
from sim.summariser import Summariser
from tests.live.made import ends, history
from tests.support.requests import faults


class Scripted:
    """Does what it is told, turn by turn, and keeps out what it is told."""

    label = "scripted"
    declares = frozenset({"grows", "ignores_pins", "spends", "untagged"})
    needs: frozenset[str] = frozenset()

    def __init__(self, plan=(), refused=()):
        self.plan, self.refused = dict(plan), refused

    def on_arrival(self, view, segment):
        if segment.id in self.refused:
            yield Refuse("oversize", segment.tokens)

    def before_call(self, view):
        yield from self.plan.get(view.turn, ())


def words(text):
    return len(text.split())


def adapted(plan=(), refused=(), format="anthropic", budget=10_000, **more):
    policy = Scripted(plan, refused)
    return policies.adapt(policy, budget=budget, format=format, count=words, **more)


def text(said):
    return {"type": "text", "text": said}


def use(id, name="Bash", **arguments):
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def result(id, content, **more):
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


TASK = {"role": "user", "content": "do it"}
TWO = [
    TASK,
    {"role": "assistant", "content": [text("both"), use("a", command="x"), use("b", command="y")]},
    {
        "role": "user",
        "content": [result("a", "of a", is_error=True), result("b", "of b"), text("go")],
    },
]


def run(agent, messages):
    """Return the last request of a history that is given call by call."""
    for end in ends(messages):
        request = agent.request(messages[:end])
    return request


@pytest.mark.parametrize("format", ["anthropic", "openai"])
@pytest.mark.parametrize("seed", range(4))
def test_what_loses_nothing_is_the_history_itself(format, seed):
    messages = history(format, seed)
    agent = policies.adapt("no-op", budget=10**9, format=format)
    for end in ends(messages):
        request = agent.request(messages[:end])
        assert request == messages[:end]
        assert all(one is other for one, other in zip(request, messages, strict=False))


def test_one_of_two_calls_leaves_the_rest_of_its_message():
    request = run(adapted({2: [Evict("call-1", "it")]}), TWO)
    assert request == [
        TASK,
        {"role": "assistant", "content": [text("both"), use("b", command="y")]},
        {"role": "user", "content": [result("b", "of b"), text("go")]},
    ]


def test_a_message_of_the_users_beside_results_can_go_alone():
    request = run(adapted({2: [Evict("user-1", "it")]}), TWO)
    assert request[2] == {"role": "user", "content": TWO[2]["content"][:2]}


# The stub has 9 words at most: the first wording that fits names the result, not its tool.
def test_a_stub_takes_the_place_of_the_text_alone():
    mark = {"cache_control": {"type": "ephemeral"}, "x": 1}
    messages = [
        *TWO[:2],
        {"role": "user", "content": [result("a", "1 2 3 4", **mark), result("b", "B")]},
    ]
    stub = Rewrite(("result-1",), 9, True, "it", stub=True)
    request = run(adapted({2: [stub]}), messages)
    said = "[result-1 (Bash), 4 tokens, left out; call it again]"
    assert words(said) == 9
    assert request[2]["content"] == [result("a", said, **mark), result("b", "B")]
    assert request[:2] == messages[:2]


def test_a_stub_has_no_more_tokens_than_were_asked_for():
    stub = Rewrite(("result-1",), 3, True, "it", stub=True)
    request = run(adapted({2: [stub]}), TWO)
    assert request[2]["content"][0]["content"] == "[result-1, left out]"


# Eight words, two of them in front and three at the end, and a gap of one; a longer label than that
# has no room.
@pytest.mark.parametrize(
    ("tokens", "shown"), [(6, "1 2 […] 8 9 10"), (9, "[result-1, left out]\n1 2 […] 8 9 10")]
)
def test_a_preview_shows_the_ends_that_it_keeps(tokens, shown):
    messages = [
        *TWO[:2],
        {"role": "user", "content": [result("a", "1 2 3 4 5 6 7 8 9 10"), result("b", "B")]},
    ]
    stub = Rewrite(("result-1",), tokens, tokens > 8, "it", stub=True, preview=(2, 3))
    request = run(adapted({2: [stub]}), messages)
    assert request[2]["content"][0]["content"].split() == shown.split()


def test_a_preview_of_nothing_is_a_stub():
    stub = Rewrite(("result-1",), 3, True, "it", stub=True, preview=(0, 0))
    request = run(adapted({2: [stub]}), TWO)
    assert request[2]["content"][0]["content"] == "[result-1, left out]"


# Six words are left of ten, one of them the gap: all five in front, all at the end, or one to four.
@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("head", "1 2 3 4 5 […] "),
        ("tail", " […] 6 7 8 9 10"),
        ("head-tail-20", "1 […] 7 8 9 10"),
        ("head-tail-saved", "1 2 […] 8 9 10"),
        ("pointer", "[result-1, 10 tokens, left out]"),
    ],
)
def test_the_ends_that_a_cap_lets_in_stand_there(form, shown):
    class Capped(Scripted):
        def on_arrival(self, view, segment):
            if segment.id == "result-1":
                yield Admit(6, form)

    messages = [
        *TWO[:2],
        {"role": "user", "content": [result("a", "1 2 3 4 5 6 7 8 9 10"), result("b", "B")]},
    ]
    agent = policies.adapt(Capped(), budget=10_000, format="anthropic", count=words)
    assert run(agent, messages)[2]["content"][0]["content"].split() == shown.split()


def test_what_is_shown_again_is_the_message_as_it_came():
    stub = Rewrite(("result-1",), 3, True, "it", stub=True)
    agent = adapted({2: [stub], 3: [Reveal("s1")]})
    assert run(agent, TWO)[2] != TWO[2]
    assert agent.request(THREE) == THREE


def test_a_summariser_is_given_what_the_harness_would_give_it():
    """Of five segments the two newest, since no third fits, and of a result two words."""
    asked = []

    def summarise(messages, most):
        asked.append(messages)
        return "so"

    caps = Summariser(input_cap=4, result_cap=2)
    messages = [
        *TWO[:2],
        {"role": "user", "content": [result("a", "of a"), result("b", "B 2 3"), text("go")]},
        *THREE[3:],
    ]
    whole = Rewrite(("result-1", "call-1", "call-2", "result-2", "user-1"), 9, True, "it",
                    summariser=caps)  # fmt: skip
    run(adapted({3: [whole]}, summarise=summarise), messages)
    said = [block for message in asked[0] for block in message["content"]]
    assert text("go") in said
    assert "of a" not in str(said) and "B 2" in str(said) and "B 2 3" not in str(said)


def test_a_call_can_lose_its_arguments():
    request = run(adapted({2: [Rewrite(("call-1",), 3, True, "it", stub=True)]}), TWO)
    assert request[1]["content"][1] == use("a", left_out="[call-1, left out]")
    assert faults("anthropic", request) == []


def test_a_result_that_was_not_let_in_says_so():
    request = run(adapted(refused=("result-2",)), TWO)
    said = "[result-2, 2 tokens, not let in: oversize]"
    assert request[2]["content"] == [TWO[2]["content"][0], result("b", said), text("go")]


THREE = [
    *TWO,
    {"role": "assistant", "content": "well"},
    {"role": "user", "content": "and now"},
]
ALL = ("assistant-1", "call-1", "result-1", "call-2", "result-2", "user-1")


def test_a_summary_is_the_callers_words_behind_its_tag():
    asked = []

    def summarise(messages, most):
        asked.append((messages, most))
        return "they ran x and y"

    whole = Rewrite(ALL, 20, True, "compaction", whole=True)
    agent = adapted({3: [whole]}, summarise=summarise)
    request = run(agent, THREE)
    assert request == [
        {"role": "user", "content": [text("do it"), text(request[0]["content"][1]["text"])]},
        THREE[3],
        THREE[4],
    ]
    said = request[0]["content"][1]["text"]
    assert said.startswith("[s1: 6 parts") and said.endswith("they ran x and y")
    assert words(said) <= 20
    ((messages, most),) = asked
    assert messages == TWO[1:]
    assert most == 20 - words(said.removesuffix("they ran x and y"))
    assert agent.request(THREE) == request and len(asked) == 1


# A call counts 50 tokens of frame, its name and its arguments: {"command": "x"} are two words.
def test_a_summary_nobody_writes_lists_what_was_there():
    whole = Rewrite(ALL, 60, True, "compaction", whole=True)
    said = run(adapted({3: [whole]}), THREE)[0]["content"][1]["text"]
    assert said.splitlines()[1:] == [
        "- assistant, 1 tokens",
        "- tool call: Bash × 2, 106 tokens",
        "- tool result: Bash × 2, 4 tokens",
        "- user, 1 tokens",
    ]


def test_what_goes_at_an_end_leaves_a_word_of_the_users():
    request = run(adapted({2: [Evict("task", "it")]}), TWO)
    assert request[0] == {"role": "user", "content": [text("[earlier messages, left out]")]}
    gone = [Evict(name, "it") for name in ("user-1", "call-1", "call-2")]
    assert run(adapted({2: gone}), TWO)[-1] == {
        "role": "user",
        "content": [text("[the last messages, left out]")],
    }


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def test_the_thoughts_of_a_loop_under_way_stay_as_they_were():
    call = {"role": "assistant", "content": [THOUGHT, use("a")]}
    loop = [TASK, call, {"role": "user", "content": [result("a", "A")]}]
    agent = adapted({2: [Evict("thinking-1", "it")]})
    assert run(agent, loop) == loop
    more = [*loop, {"role": "assistant", "content": [use("b")]},
            {"role": "user", "content": [result("b", "B")]}]  # fmt: skip
    assert agent.request(more)[1] == {"role": "assistant", "content": [use("a")]}


def read(id, said):
    return [
        {"role": "assistant", "content": [use(id, "Read", file_path="/r/a.py")]},
        {"role": "user", "content": [result(id, said)]},
    ]


FILE = "def alpha_beta_1(): pass"
AGAIN = [TASK, *read("a", FILE), {"role": "assistant", "content": "hm"}, TASK, *read("b", FILE)]


def test_what_was_read_again_stands_in_full_while_there_is_room():
    assert run(adapted(), AGAIN) == AGAIN
    short = run(adapted(budget=63), AGAIN)
    assert short[:6] == AGAIN[:6]
    said = "[the same text as file-1 (/r/a.py), which stands elsewhere in this conversation]"
    assert short[6]["content"] == [result("b", said)]


# In turn 4 the model has asked for it again and gets it; then it is back as a segment, there.
def test_what_had_gone_and_was_read_again_is_back_where_it_was_read():
    agent = adapted({3: [Evict("file-1", "it")]})
    request = run(agent, AGAIN)
    assert request == [TASK, *AGAIN[3:]]
    assert "file-1" not in dict(agent.window)
    more = [*AGAIN, {"role": "assistant", "content": "yes"}, {"role": "user", "content": "go"}]
    assert agent.request(more) == [TASK, *more[3:]]
    assert "file-1" in dict(agent.window)


# Turn 4 mentions what file-1 brought in turn 2: it is fetched, and stands behind turn 4's request.
MENTION = [
    TASK,
    *read("a", FILE),
    {"role": "assistant", "content": "hm"},
    {"role": "user", "content": "and"},
    {"role": "assistant", "content": "hm"},
    {"role": "user", "content": "so"},
    {"role": "assistant", "content": "look at `alpha_beta_1`"},
    {"role": "user", "content": "yes"},
]


@pytest.mark.parametrize(
    ("given", "said"),
    [(None, FILE), (lambda name, given: f"{name} of {given['file_path']}", "Read of /r/a.py")],
)
def test_what_is_fetched_comes_as_a_text_of_the_users(given, said):
    agent = adapted({3: [Evict("file-1", "it")]}, read=given)
    request = run(agent, MENTION)
    back = text(f"[file-1 (/r/a.py), brought back:]\n{said}")
    assert request == [
        TASK,
        *MENTION[3:6],
        {"role": "user", "content": [text("so"), back]},
        *MENTION[7:],
    ]
    assert agent.why("a") == [
        "call-1, turn 2: came in whole",
        "call-1, turn 3: was evicted (it), without copy",
        "file-1, turn 2: came in whole",
        "file-1, turn 3: was evicted (it), with a copy",
        "file-1, turn 4: was brought back",
    ]
    assert agent.why(0) == ["task, turn 1: came in whole"]


SEARCH = [
    TASK,
    {
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u"}]},
            text("found"),
        ],
    },
    {"role": "user", "content": "go"},
]


def test_a_tool_of_the_providers_goes_with_its_result():
    assert run(adapted(), SEARCH) == SEARCH
    request = run(adapted({2: [Rewrite(("result-1",), 3, True, "it", stub=True)]}), SEARCH)
    said = text("[result-1, left out]")
    assert request[1] == {"role": "assistant", "content": [said, text("found")]}


# A file that no reader knows goes with the text beside it, and stays where there is none.
def test_what_no_reader_knows_is_passed_on():
    pdf = {"type": "document", "source": {"type": "base64", "data": "aGk="}}
    messages = [{"role": "user", "content": [pdf, text("do it")]}, TWO[1], TWO[2]]
    assert run(adapted(), messages) == messages
    assert run(adapted({2: [Evict("task", "it")]}), messages)[0]["content"][0]["type"] == "text"
    alone = [{"role": "user", "content": [pdf]}, *messages]
    assert run(adapted({2: [Evict("task", "it")]}), alone)[0] == alone[0]


def function(id, arguments="{}"):
    return {"id": id, "type": "function", "function": {"name": "sh", "arguments": arguments}}


CHAT = [
    {"role": "system", "content": "be good"},
    {"role": "user", "content": "do it", "name": "me"},
    {
        "role": "assistant",
        "content": "both",
        "reasoning_content": "hm hm",
        "tool_calls": [function("a"), function("b")],
        "refusal": None,
    },
    {"role": "tool", "tool_call_id": "a", "content": "of a", "name": "sh"},
    {"role": "tool", "tool_call_id": "b", "content": "of b"},
]


def test_openai_one_of_two_calls_leaves_the_rest():
    gone = [Evict("call-1", "it"), Evict("assistant-1", "it")]
    request = run(adapted({2: gone}, format="openai"), CHAT)
    left = {**CHAT[2], "content": None, "tool_calls": [function("b")]}
    assert request == [*CHAT[:2], left, CHAT[4]]


def test_openai_a_stub_keeps_the_message_around_it():
    plan = {2: [Rewrite((name,), 3, True, "it", stub=True) for name in ("result-1", "call-2")]}
    request = run(adapted(plan, format="openai"), CHAT)
    assert request[3] == {**CHAT[3], "content": "[result-1, left out]"}
    assert request[2]["tool_calls"] == [
        function("a"),
        function("b", '{"left_out": "[call-2, left out]"}'),
    ]


def test_openai_results_come_behind_their_calls_in_whatever_order():
    late = [*CHAT[:3], CHAT[4], CHAT[3]]
    assert faults("openai", run(adapted(format="openai"), late)) == []
    pending = [*CHAT[:4], {"role": "user", "content": "never mind"}]
    request = run(adapted(format="openai"), pending)
    assert request == [*CHAT[:2], {**CHAT[2], "tool_calls": [function("a")]}, *pending[3:]]


def test_openai_an_older_function_call_pairs_by_order():
    older = [
        *CHAT[:2],
        {"role": "assistant", "content": None, "function_call": {"name": "sh", "arguments": "{}"}},
        {"role": "function", "name": "sh", "content": "ok"},
    ]
    assert run(adapted(format="openai"), older) == older
    gone = adapted({2: [Evict("call-1", "it")]}, format="openai")
    assert run(gone, older) == older[:2]


# A second result, a result without a call and a call id used twice can be in no request.
def test_what_pairs_with_nothing_is_left_out_and_named():
    odd = [
        *CHAT,
        {"role": "tool", "tool_call_id": "b", "content": "again"},
        {"role": "tool", "tool_call_id": "zz", "content": "of what"},
        {"role": "user", "content": "go"},
    ]
    agent = adapted(format="openai")
    assert run(agent, odd) == [*CHAT, odd[-1]]
    assert len(agent.warnings) == 2


def test_objects_of_a_library_come_back_as_they_are():
    class Block:
        def model_dump(self, **how):
            return {"type": "text", "text": "both"}

    messages = [TASK, {"role": "assistant", "content": [Block(), use("a")]},
                {"role": "user", "content": [result("a", "A")]}]  # fmt: skip
    assert run(adapted(), messages)[1] is messages[1]
    request = run(adapted({2: [Evict("call-1", "it")]}), messages)
    assert request[1]["content"] == [text("both")]


def test_a_cache_mark_may_move():
    agent = adapted()
    agent.request([{"role": "user", "content": [{**text("do it"), "cache_control": {}}]}])
    moved = [{"role": "user", "content": [text("do it")]}, *TWO[1:]]
    assert agent.request(moved) == moved


def test_overhead_counts_and_is_not_sent():
    agent = adapted(overhead=7, system="be good", tools=[{"name": "Bash", "input_schema": {}}])
    assert agent.request([TASK]) == [TASK]
    sizes = dict(agent.window)
    assert sizes["unrecorded"] == 7 and sizes["system"] == 2 and sizes["task"] == 2
    assert agent.tokens == sum(sizes.values())
