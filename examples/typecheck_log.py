"""Writes the type check that S3 tells of, as a log: 431 errors in 118 files, about 61,204 tokens.

    .venv/bin/python examples/typecheck_log.py | .venv/bin/evictbench reduce - --max-tokens 24000

A signature in a base class has changed, and every subclass and call site is an error. The text is
made up, line by line from a name; nothing in it is drawn anew from run to run.
"""

from __future__ import annotations

from collections.abc import Iterator

from sim.streams import uniform

ERRORS, FILES, CHECKED = 431, 118, 2847
PACKAGES = ("billing", "catalogue", "invoices", "ledger", "orders", "payments", "reports", "tax")
NOUNS = ("adjustment", "credit", "discount", "entry", "line", "quote", "rate", "refund", "rule")
TYPES = ("Decimal", "Invoice", "Money", "Period", "Region", "TaxRate", "VatCategory", "date")
PARTS = 8
"""Type parameters in the signature that an error spells out."""


def pick(words: tuple[str, ...], *key: object) -> str:
    """Return the word that belongs to *key*."""
    return words[int(uniform(0, "typecheck-log", *key) * len(words))]


def path(number: int) -> str:
    """Return the path of file *number*."""
    package, noun = PACKAGES[number % len(PACKAGES)], NOUNS[number // len(PACKAGES) % len(NOUNS)]
    return f"{package}/{noun}_{number:03}.py"


def spelled(*key: object) -> str:
    """Return a signature, as the checker spells it out."""
    parts = [
        f"{pick(NOUNS, *key, n)}: {pick(('Optional', 'Sequence', 'list'), 'of', *key, n)}"
        f"[{pick(TYPES, 'type', *key, n)}]"
        for n in range(PARTS)
    ]
    return f"def _apply({', '.join(parts)}) -> {pick(TYPES, 'result', *key)}"


def error(number: int, file: int) -> str:
    """Return error *number*, which stands in *file*."""
    line = 10 + number % 37 * 11
    return (
        f'{path(file)}:{line}: error: Signature of "_apply" incompatible with "TaxPolicy": '
        f"expected {spelled('old', file)}, got {spelled('new', number)}  [override]"
    )


def lines() -> Iterator[str]:
    """Yield the lines of the log, file by file."""
    number = 0
    for file in range(FILES):
        of_this = ERRORS // FILES + (file < ERRORS % FILES)
        for _ in range(of_this):
            yield error(number, file)
            number += 1
    yield f"Found {ERRORS} errors in {FILES} files (checked {CHECKED} source files)"


if __name__ == "__main__":
    print("\n".join(lines()))
