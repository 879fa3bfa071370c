"""The type check that S3 tells of: 431 errors in 118 files, 61,204 tokens, a budget of 24,000."""

import re
import runpy
from pathlib import Path

from policies.reducers.reduction import Output, reduce
from sim.tokens import tokenizer

ROOT = Path(__file__).parents[3]
TOKENS, LIMIT = 61_204, 24_000


def test_it_comes_out_under_budget_with_every_file_named():
    log = "\n".join(runpy.run_path(str(ROOT / "examples" / "typecheck_log.py"))["lines"]())
    assert abs(tokenizer().count(log) - TOKENS) <= 0.01 * TOKENS
    files = dict.fromkeys(re.findall(r"^(\S+\.py):\d+: error: ", log, re.M))
    assert len(files) == 118
    assert log.count(": error: ") == 431
    assert Output(log).found().counts == {"errors": 431, "files": 118}

    result = reduce(log, LIMIT)
    assert result.tool == "mypy"
    assert tokenizer().count(result.text) == result.tokens_after <= LIMIT
    left = result.tokens_before - result.tokens_after
    assert result.dropped == {"errors": 431 - 118, "tokens": left}
    first = {}
    for line in log.splitlines():
        if ": error: " in line:
            first.setdefault(line.split(":")[0], line)
    shown = result.text.splitlines()
    assert [line.split(":")[0] for line in shown[:118]] == list(files)
    assert all(line.startswith(first[line.split(":")[0]]) for line in shown[:118])
    assert "313 further errors in the files above" in shown[-2]
    assert shown[-1] == "Found 431 errors in 118 files (checked 2847 source files)"
