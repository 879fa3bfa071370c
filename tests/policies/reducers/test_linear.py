"""No quadratic regular expression: a look at every pattern, and long hostile inputs.

A pattern is suspect where a run of one character can be divided in more than one way, or is looked
at again from each of its positions. Each suspect is either mended or stands below with the reason
why it is harmless.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import string
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

import policies.reducers
from policies.reducers.registry import reducers

ROOT = Path(__file__).parents[3]
ALPHABET = string.printable + "\x1b\u00a0é日│├●✓×❯…"
UNBOUNDED = 1_000
HARD_LIMIT = 240
"""Seconds for all hostile inputs: a quadratic pattern would need hours."""

HARMLESS: dict[str, str] = {}
"""Suspects by ``module.NAME``, and why each is linear all the same."""


def modules():
    names = [policies.reducers.__name__]
    names += [
        module.name
        for module in pkgutil.walk_packages(policies.reducers.__path__, "policies.reducers.")
    ]
    return [importlib.import_module(name) for name in names]


def patterns_in(value):
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from patterns_in(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from patterns_in(inner)


@lru_cache(maxsize=1)
def patterns():
    found = []
    for module in modules():
        source = Path(module.__file__).read_text(encoding="utf-8")
        for name, value in vars(module).items():
            for pattern in patterns_in(value):
                if not isinstance(pattern.pattern, str):
                    continue
                found.append((f"{module.__name__}.{name}", pattern, searched(name, source)))
    return found


def searched(name, source):
    """Whether the pattern is looked for at every position, not matched at one alone."""
    uses = re.findall(rf"\b{re.escape(name)}(\.\w+|\b)", source)
    return any(use not in (".match", ".fullmatch", ".pattern") for use in uses[1:])


# The tree of a pattern, as the standard library parses it


def name_of(op):
    return str(op)


CATEGORIES = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_NOT_DIGIT": lambda c: not c.isdigit(),
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_NOT_SPACE": lambda c: not c.isspace(),
    "CATEGORY_WORD": lambda c: c.isalnum() or c == "_",
    "CATEGORY_NOT_WORD": lambda c: not (c.isalnum() or c == "_"),
}


def in_set(parts, character):
    negate = bool(parts) and name_of(parts[0][0]) == "NEGATE"
    hit = False
    for op, argument in parts[1:] if negate else parts:
        kind = name_of(op)
        if kind == "LITERAL":
            hit |= ord(character) == argument
        elif kind == "RANGE":
            hit |= argument[0] <= ord(character) <= argument[1]
        elif kind == "CATEGORY":
            hit |= CATEGORIES[name_of(argument)](character)
    return hit != negate


def either_case(characters, flags):
    if not flags & re.IGNORECASE:
        return frozenset(characters)
    return frozenset(c for c in ALPHABET if {c, c.lower(), c.upper()} & characters)


def characters(node, flags):
    """Return which characters of the alphabet *node* can consume anywhere in it."""
    op, argument = node
    kind = name_of(op)
    if kind == "LITERAL":
        own = {c for c in ALPHABET if ord(c) == argument}
    elif kind == "NOT_LITERAL":
        own = {c for c in ALPHABET if ord(c) != argument}
    elif kind == "ANY":
        own = {c for c in ALPHABET if c != "\n" or flags & re.DOTALL}
    elif kind == "IN":
        own = {c for c in ALPHABET if in_set(argument, c)}
    else:
        own = set()
        for inner in children(node):
            for each in inner:
                own |= characters(each, flags)
    return either_case(own, flags)


def children(node):
    op, argument = node
    kind = name_of(op)
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return [list(argument[2])]
    if kind == "SUBPATTERN":
        return [list(argument[3])]
    if kind == "ATOMIC_GROUP":
        return [list(argument)]
    if kind == "BRANCH":
        return [list(branch) for branch in argument[1]]
    if kind == "GROUPREF_EXISTS":
        return [list(part) for part in argument[1:] if part]
    return []


def nullable(node):
    op, argument = node
    kind = name_of(op)
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return argument[0] == 0 or all(map(nullable, argument[2]))
    if kind == "BRANCH":
        return any(all(map(nullable, branch)) for branch in argument[1])
    if kind in ("SUBPATTERN", "ATOMIC_GROUP"):
        return all(map(nullable, children(node)[0]))
    return kind in ("AT", "ASSERT", "ASSERT_NOT", "GROUPREF")


def repeat(node):
    """Return (body, possessive) if *node* may repeat without a bound."""
    op, argument = node
    kind = name_of(op)
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and argument[1] > UNBOUNDED:
        return list(argument[2]), kind == "POSSESSIVE_REPEAT"
    return None


def sequences(nodes):
    """Yield every way through the branches of *nodes*, groups taken out of their brackets."""
    ways = [[]]
    for node in nodes:
        kind = name_of(node[0])
        if kind == "SUBPATTERN":
            inner = list(sequences(children(node)[0]))
        elif kind == "BRANCH":
            inner = [way for branch in children(node) for way in sequences(branch)]
        else:
            inner = [[node]]
        ways = [way + more for way in ways for more in inner][:400]
    yield from ways


def can_fail(nodes, flags):
    """Whether something in *nodes* may not match: then what stands before is tried again."""
    return any(
        not nullable(node) or name_of(node[0]) in ("AT", "ASSERT", "ASSERT_NOT") for node in nodes
    )


def suspicions(pattern, by_search):
    flags = pattern.flags
    tree = list(re._parser.parse(pattern.pattern, flags))
    for way in sequences(tree):
        yield from in_sequence(way, flags)
        if by_search:
            yield from at_start(way, flags)
    yield from inside(tree, flags)


def inside(nodes, flags):
    """Yield what is suspect within repeats and look-arounds."""
    for node in nodes:
        loop = repeat(node)
        if loop and not loop[1]:
            for way in sequences(loop[0]):
                inner = [each for each in way if repeat(each) and not repeat(each)[1]]
                if any(characters(each, flags) & characters(way[0], flags) for each in inner[-1:]):
                    separators = [e for e in way if not nullable(e) and not repeat(e)]
                    ends = characters(inner[-1], flags)
                    if all(characters(each, flags) & ends for each in separators):
                        yield f"a repeat within a repeat shares {ends & characters(way[0], flags)}"
        for body in children(node):
            for way in sequences(body):
                yield from in_sequence(way, flags) if loop else ()
            yield from inside(body, flags)
        if name_of(node[0]) in ("ASSERT", "ASSERT_NOT"):
            yield from inside(list(node[1][1]), flags)


def in_sequence(way, flags):
    """Yield pairs of repeats between which one run of characters can be divided in many ways."""
    for first, node in enumerate(way):
        loop = repeat(node)
        if not loop or loop[1]:
            continue
        own = characters(node, flags)
        between = []
        for second in range(first + 1, len(way)):
            after = characters(way[second], flags)
            apart = any(not each & after for each in between)
            if repeat(way[second]) and own & after and not apart:
                rest = way[second + 1 :]
                if can_fail(rest, flags) and not at_line_end(way[second], rest, flags):
                    yield f"two repeats share {sorted(own & after)[:8]}"
            if not nullable(way[second]):
                if not own & after:
                    break
                between.append(after)


def at_line_end(node, rest, flags):
    """Whether *node* takes all up to the end of the line, which is all that may follow it."""
    takes_all = set(ALPHABET) - {"\n"} <= set(characters(node, flags))
    return takes_all and all(nullable(each) for each in rest)


def at_start(way, flags):
    """Yield a first repeat that is taken up again from each character of a long run."""
    for at, node in enumerate(way):
        kind = name_of(node[0])
        if kind == "AT" and name_of(node[1]) in ("AT_BEGINNING", "AT_BEGINNING_STRING"):
            if name_of(node[1]) == "AT_BEGINNING" and flags & re.MULTILINE:
                yield from over_lines(way[at + 1 :], flags)
            return
        if kind == "AT" or (kind in ("ASSERT", "ASSERT_NOT") and node[1][0] < 0):
            return
        loop = repeat(node)
        if loop:
            if can_fail(way[at + 1 :], flags):
                yield f"begins with a repeat of {sorted(characters(node, flags))[:8]}"
            return
        if not nullable(node):
            before = characters(node, flags)
            following = way[at + 1 :]
            for later, each in enumerate(following):
                if repeat(each):
                    whole = before <= characters(each, flags)
                    if whole and can_fail(following[later + 1 :], flags):
                        yield f"{sorted(before)[:4]} begins again within a repeat that holds it"
                    return
                if not nullable(each):
                    return
            return


def over_lines(way, flags):
    """Yield a repeat that runs over the ends of lines, each of which is a place to begin."""
    for at, node in enumerate(way):
        if repeat(node) and "\n" in characters(node, flags) and can_fail(way[at + 1 :], flags):
            yield "runs over line ends from the beginning of each line"
            return
        if not nullable(node) and "\n" not in characters(node, flags):
            return


def suspects():
    for name, pattern, by_search in patterns():
        for reason in dict.fromkeys(suspicions(pattern, by_search)):
            yield name, pattern.pattern, reason


def test_no_pattern_can_go_quadratic():
    bad = [
        f"{name}: {reason}: {source}" for name, source, reason in suspects() if name not in HARMLESS
    ]
    assert not bad, "\n".join(bad)


def test_what_is_said_to_be_harmless_is_still_suspect():
    assert set(HARMLESS) <= {name for name, _, _ in suspects()}


@pytest.mark.parametrize(
    ("pattern", "suspect"),
    [
        (r"a+a+b", True),
        (r"(?:a+)+b", True),
        (r"\s+$", True),
        (r"\d+ files", True),
        (r"^.*x.*y", True),
        (r"(?m)^\s*x", True),
        (r"(?m)^ *\n? *x", True),
        (r'"[^"]*"', False),
        (r"^\d++ files", False),
        (r"^[^:\n]+:\d+:", False),
        (r"^[^:\n]+:\d+", False),
        (r"\bfoo .*", False),
        (r"(?m)^ *x", False),
        (r"\d++(?:,\d++)*+", False),
        (r"x[0-9]{1,3}y*", False),
        (r"^[^\n]*?:\d++:\d++$", False),
        (r"^\S.*? +-{3}", True),
        (r"^.* in .*:line \d++", True),
    ],
)
def test_the_look_at_patterns_knows_good_from_bad(pattern, suspect):
    assert bool(list(suspicions(re.compile(pattern), True))) == suspect


# Hostile inputs


def literals(nodes, found):
    """Collect the runs of literal characters of a pattern."""
    run = ""
    for node in [*nodes, None]:
        if node is not None and name_of(node[0]) == "LITERAL":
            run += chr(node[1])
            continue
        if len(run) > 1:
            found.append(run)
        run = ""
        for body in children(node) if node is not None else []:
            literals(body, found)
    return found


def fragments(name):
    """Return what a log that is hostile to reducer *name* is made of."""
    reducer = reducers()[name]
    module = type(reducer).__module__
    pieces = [*reducer.hints]
    for where, pattern, _ in patterns():
        if where.rpartition(".")[0] == module:
            pieces += literals(list(re._parser.parse(pattern.pattern, pattern.flags)), [])
    pieces = sorted(set(pieces), key=lambda piece: (-len(piece), piece))[:30]
    return pieces or ["a"]


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from policies.reducers.log import Log
from policies.reducers.reduction import Output, reduced
from policies.reducers.registry import reducers
from policies.reducers.room import Room
from sim.tokens import tokenizer

for name, size, pieces in eval(sys.stdin.read()):
    reducer, room = reducers()[name], Room(2000, tokenizer())
    every = "".join(pieces)
    inputs = [
        every * (size // len(every) + 1),
        "\\n".join(pieces * (size // (len(every) + len(pieces)) + 1)),
        pieces[0] + "a" * size,
        pieces[0] + " " * size + "x",
        pieces[0] + "\\n" * size + "x",
        pieces[0] + "1.a:/" * (size // 5),
        "\\n".join([pieces[0] + "x"] * (size // (len(pieces[0]) + 2))),
    ]
    for number, text in enumerate(inputs):
        print(name, number, flush=True)
        log = Log.of(text)
        for span in list(reducer.find(log)) + [None]:
            form = reducer.read(log if span is None else log.part(span))
            if form is not None and span is None:
                form.found()
                form.lay(room)
print("done")
"""


def run(jobs):
    try:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(ROOT)],
            input=repr(jobs),
            capture_output=True,
            text=True,
            timeout=HARD_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").decode().splitlines()
        pytest.fail(f"never ended: reducer and input {said[-1:]}")
    assert done.stdout.endswith("done\n"), (done.stdout[-200:], done.stderr[-2_000:])


@pytest.mark.parametrize("size", [1_000_000])
def test_hostile_inputs_come_to_an_end(size):
    """At the small size all reducers, so that a slow one is named; at 1 MB too."""
    run([(name, size, fragments(name)) for name in reducers()])
