"""``python -m sim.prefix_cache FILE``: work out the cases of a JSON file and print them as JSON.

Each case comes back with `got`: for each call tokens, read, written, plain and usd (US dollars);
and, only where there are any, those written for the longer life (written_long) and, where storage
is billed, those stored anew (stored).
Exit code 2, and one sentence on standard error, if the file cannot be used.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sim.errors import InputError
from sim.prefix_cache import Prompt, Usage, make_cache
from sim.prefix_cache.cases import Call, Case, parse_cases
from sim.prices import Price

__all__ = ["main"]


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code."""
    if len(arguments) != 1:
        print("usage: python -m sim.prefix_cache FILE", file=sys.stderr)
        return 2
    try:
        output = json.dumps(_work_out(arguments[0]), indent=1)
    except InputError as error:
        print(_one_line(error), file=sys.stderr)
        return 2
    except RecursionError:
        print(f"{arguments[0]}: nested too deep", file=sys.stderr)
        return 2
    print(output)
    return 0


def _one_line(error: InputError) -> str:
    """Return the sentence of an error as one line that any terminal takes."""
    return " ".join(str(error).splitlines()).encode("utf-8", "backslashreplace").decode("utf-8")


def _work_out(file: str) -> dict[str, Any]:
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", file=file) from None
    except UnicodeDecodeError:
        raise InputError("cannot read it: not UTF-8 text", file=file) from None
    try:
        document, cases = parse_cases(text)
        got = [_got(case) for case in cases]
    except InputError as error:
        raise InputError(error.message, file=file, line=error.line) from None
    for case, result in zip(document["cases"], got, strict=True):
        case["got"] = result
    return document


def _got(case: Case) -> list[dict[str, float]]:
    cache = make_cache(case.rules)
    prompt = cache.prompt()
    sent: tuple[tuple[str, int, int, str], ...] = ()
    results: list[dict[str, float]] = []
    for number, call in enumerate(case.calls, 1):
        _edit(prompt, sent, call)
        sent = call.request
        try:
            usage = cache.call(prompt, call.at, call.breakpoints, call.long)
        except ValueError as error:
            raise InputError(f"{case.label}, call {number}: {error}") from None
        results.append(_shown(usage, case.price))
    return results


def _shown(usage: Usage, price: Price) -> dict[str, float]:
    shown: dict[str, float] = usage._asdict()
    if not usage.written_long:
        del shown["written_long"]
    if not (usage.stored and price.storage):
        del shown["stored"]
    return {**shown, "usd": round(price.input_cost(usage), 12)}


def _edit(prompt: Prompt, sent: Sequence[object], call: Call) -> None:
    """Turn the prompt that was *sent* into the next call's, from the first change on."""
    same = 0
    for old, new in zip(sent, call.request, strict=False):
        if old != new:
            break
        same += 1
    prompt.truncate(same)
    for segment in call.request[same:]:
        prompt.append(*segment)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
