"""Time and memory of reducing a log, through all reducers: it has to grow with the size alone."""

from __future__ import annotations

import random
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from policies.reducers.reduction import reduce
from sim.tokens import tokenizer

LIMIT = 24_000
MEGABYTE = 1_000_000
LONGEST = 500
"""Characters of a line, at most."""
ROOT = Path(__file__).resolve().parents[1]
WORDS = (
    "GET", "POST", "/api/v1/items", "status", "200", "503", "took", "ms", "worker", "queue",
    "INFO", "DEBUG", "retry", "connection", "src/service/handler.py:12", "{", "}", "->", "cache",
)  # fmt: skip

PEAK = """
import re, sys
from policies.reducers.reduction import reduce

def peak():
    status = open("/proc/self/status").read()
    return 1024 * int(re.search("VmHWM:[^0-9]*([0-9]+) kB", status)[1])

reduce("warm up the vocabulary " * 100, 40)
raw = sys.stdin.buffer.read()
before = peak()
reduce(raw, 24_000)
print((peak() - before) / len(raw))
"""
"""Prints the peak of the memory beyond what reading the input took, as a multiple of the input."""


@cache
def log(megabytes: int) -> bytes:
    """Return a log of that size, of lines of a service, each with its time and some words."""
    draw = random.Random(7)
    block: list[str] = []
    size = 0
    while size < MEGABYTE:
        moment = f"2026-01-01 {draw.randrange(24):02}:{draw.randrange(60):02}:{draw.random():.6f} "
        line = moment + " ".join(draw.choices(WORDS, k=draw.randrange(2, 70)))
        block.append(line[:LONGEST])
        size += len(block[-1]) + 1
    return ("\n".join(block) + "\n").encode() * megabytes


@pytest.mark.parametrize("megabytes", [1, 10, 100])
def test_lines(benchmark, megabytes: int) -> None:
    raw = log(megabytes)
    tokenizer().count("warm")
    benchmark.group = "lines of at most 500 bytes"
    result = benchmark.pedantic(reduce, (raw, LIMIT), rounds=1 if megabytes > 10 else 3)
    benchmark.extra_info["megabytes"] = megabytes
    assert result.tokens_after <= LIMIT


@pytest.mark.parametrize("kind", ["words", "letters", "json"])
def test_one_line(benchmark, kind: str) -> None:
    text = {
        "words": "lorem ipsum dolor sit amet " * 185_000,
        "letters": "a" * 5 * MEGABYTE,
        "json": "[" + ",".join(f'{{"id":{n},"name":"n{n}"}}' for n in range(180_000)) + "]",
    }[kind]
    benchmark.group = "one line of 5 MB"
    result = benchmark.pedantic(reduce, (text.encode(), LIMIT), rounds=1)
    assert result.tokens_after <= LIMIT


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system tells no peak")
@pytest.mark.parametrize("megabytes", [1, 10, 100])
def test_peak_memory(benchmark, megabytes: int) -> None:
    """The peak beyond what stood before, as a multiple of the input; the time is of no interest."""

    def peak() -> float:
        done = subprocess.run(
            [sys.executable, "-c", PEAK], input=log(megabytes), capture_output=True, cwd=ROOT,
            check=True,
        )  # fmt: skip
        return float(done.stdout)

    benchmark.group = "peak memory"
    benchmark.extra_info["peak as a multiple of the input"] = benchmark.pedantic(peak, rounds=1)
