"""``python -m bench.complaints`` runs every complaint and writes the table into its page."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path

from bench.cli import main as evictbench
from bench.pages import put_figures
from bench.results.atomic import write_text

PAGE = Path("docs/complaints.md")


def main() -> None:
    """Write what ``evictbench complaints --format md`` prints into docs/complaints.md."""
    table = io.StringIO()
    with redirect_stdout(table):
        try:
            evictbench(["complaints", "--format", "md"])
        except SystemExit as end:
            if end.code not in (0, 1, None):
                raise
    page = put_figures(PAGE.read_text(encoding="utf-8"), {"complaints": table.getvalue()})
    write_text(PAGE, page)


if __name__ == "__main__":
    main()
