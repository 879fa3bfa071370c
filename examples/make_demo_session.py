"""Writes demo-session.jsonl: a session of our own making, in the shape that Claude Code records.

    python examples/make_demo_session.py

The repository it works on is invented (demo_repository.py); reads, searches and edits are carried
out on it, so that what the session shows is consistent, and the output of commands is written out
here. Nothing is drawn at random: every run writes the same bytes.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from demo_recorder import Recorder
from demo_repository import FILES, station_code

TARGET = Path(__file__).with_name("demo-session.jsonl")

NO_ROW_LOST = """

def test_no_row_is_lost_between_batches():
    sent = [row["taken_at"] for batch in batches(rows(25), size=10) for row in batch]
    assert sent == [row["taken_at"] for row in rows(25)]
"""

LOST_ROWS = """
____ test_no_row_is_lost_between_batches ____

    def test_no_row_is_lost_between_batches():
        sent = [row["taken_at"] for batch in batches(rows(25), size=10) for row in batch]
>       assert sent == [row["taken_at"] for row in rows(25)]
E       AssertionError: assert ['2026-03-04T...', ...] == ['2026-03-04T...', ...]
E         At index 10 diff: '2026-03-04T00:11:00+00:00' != '2026-03-04T00:10:00+00:00'
E         Right contains 2 more items, first extra item: '2026-03-04T00:23:00+00:00'

tests/test_ingest.py:33: AssertionError
"""

TEST_CLIENT = """import itertools

import pytest

from tidewatch import client as client_module
from tidewatch.client import ArchiveClient, WindowClosed


class Answer:
    def __init__(self, status_code, retry_after=None):
        self.status_code = status_code
        self.text = ""
        self.headers = {} if retry_after is None else {"Retry-After": str(retry_after)}

    def json(self):
        return {"accepted_rows": 2, "archive_revision": "r-3311"}


class Session:
    def __init__(self, *answers):
        self.headers = {}
        self._answers = iter(answers)

    def put(self, *args, **kwargs):
        return next(self._answers)


@pytest.fixture
def slept(monkeypatch):
    pauses = []
    monkeypatch.setattr(client_module.time, "sleep", pauses.append)
    return pauses


def test_it_waits_as_long_as_the_archive_asks(slept):
    client = ArchiveClient("token", Session(Answer(429, 75), Answer(202)))
    assert client.upload([{"n": 1}]).accepted_rows == 2
    assert slept == [75.0]


def test_its_own_pause_counts_if_it_is_longer(slept):
    answers = [Answer(429, 1)] * 4 + [Answer(202)]
    ArchiveClient("token", Session(*answers)).upload([{"n": 1}])
    assert slept == [1.25, 2.5, 5.0, 10.0]


def test_it_gives_up_before_a_pause_that_outlasts_the_window(slept, monkeypatch):
    clock = itertools.count(0, 2200)
    monkeypatch.setattr(client_module.time, "monotonic", lambda: next(clock))
    with pytest.raises(WindowClosed):
        ArchiveClient("token", Session(*[Answer(429, 75)] * 6)).upload([{"n": 1}])
"""

NOT_HONOURED = """
____ test_its_own_pause_counts_if_it_is_longer ____

slept = [1.25, 2.5, 5.0, 1.0]

    def test_its_own_pause_counts_if_it_is_longer(slept):
        answers = [Answer(429, 1)] * 4 + [Answer(202)]
        ArchiveClient("token", Session(*answers)).upload([{"n": 1}])
>       assert slept == [1.25, 2.5, 5.0, 10.0]
E       assert [1.25, 2.5, 5.0, 1.0] == [1.25, 2.5, 5.0, 10.0]
E         At index 3 diff: 1.0 != 10.0

tests/test_client.py:47: AssertionError
"""

LAZY_PAUSES = '''def pauses(attempts: int, asked: list[float] | None = None) -> Iterator[float]:
    """Yield the pause after each attempt: doubled each time, up to the cap, or what is asked."""
    pause = RETRY_BASE_SECONDS
    for attempt in range(attempts):
        wanted = asked[-1] if asked and attempt > 2 else pause
        yield wanted
        pause = min(pause * 2, RETRY_CAP_SECONDS)
'''

RIGHT_PAUSES = '''def pauses(attempts: int, asked: list[float] | None = None) -> Iterator[float]:
    """Yield the pause after each attempt: doubled each time up to the cap; never less than asked.

    *asked* is what the archive asked for so far; its last entry holds for the next pause.
    """
    pause = RETRY_BASE_SECONDS
    for _ in range(attempts):
        yield max(pause, asked[-1] if asked else 0.0)
        pause = min(pause * 2, RETRY_CAP_SECONDS)
'''

OLD_LOOP = """        for attempt, pause in enumerate(pauses(MAX_ATTEMPTS), 1):
            if time.monotonic() - self._opened_at > UPLOAD_WINDOW_SECONDS:
                raise WindowClosed(digest)
"""

NEW_LOOP = """        asked: list[float] = []
        waits = pauses(MAX_ATTEMPTS, asked)
        for attempt in range(1, MAX_ATTEMPTS + 1):
            if time.monotonic() - self._opened_at > UPLOAD_WINDOW_SECONDS:
                raise WindowClosed(digest)
"""

OLD_END = """                raise UploadRefused(f"{digest}: {answer.text}")
            time.sleep(pause)
"""

NEW_END = """                raise UploadRefused(f"{digest}: {answer.text}")
            asked.append(float(answer.headers.get("Retry-After", 0)))
            time.sleep(next(waits))
"""

OLD_UPLOAD = """        receipt = client.upload(batch)
        store.mark_sent(batch, receipt.batch_digest)
"""

NEW_UPLOAD = """        try:
            receipt = client.upload(batch)
        except UploadRefused as refused:
            digest, _, reason = str(refused).partition(": ")
            store.park(digest, reason, parked_at=batch[-1]["taken_at"])
            continue
        store.mark_sent(batch, receipt.batch_digest)
"""

ENTRY = """# Changelog

## 3.8.2

- Every row is sent: one was dropped between two batches (INGEST_ROWS_MISSING, RB-2281).
- Pauses between attempts are never shorter than the archive asks, so that it no longer puts us into
  slow-lane-b7 (INGEST_PENALTY, RB-2304).

"""

INCIDENT = f"""# INC-70913-K: rows missing after the switch to batches

| | |
|---|---|
| alarm | INGEST_ROWS_MISSING, runbook RB-2281 |
| station named by the alarm | {station_code(20)} (Ullness), telemetry lag 480 s |
| rows read, accepted | 41616, 41594 |
| first throttled request | req_9c41e7d09b, asked to wait 75 s |
| batch limit | MAX_BATCH_ROWS = 1850 |
| upload window | UPLOAD_WINDOW_SECONDS = 4500 |

Cause: after each full batch the reader took one row more and threw it away, 22 a night. Stations
whose rows stand at the end of a batch were hit, which is why the alarm named different ones.
Second cause: attempts came back earlier than asked. The penalty queue slow-lane-b7 held us for
1,800 s, and RETRY_BASE_SECONDS = 1.25 never reached what was asked within MAX_ATTEMPTS.
Refused batches now stand in parked_batches_v2 instead of ending the run.
"""


def _digest(number: int) -> str:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"batch {number}").hex[:16]


def _counts() -> str:
    """What a query on the readings prints: one line a station."""
    rows = ["station       read   sent  unsent  first_unsent"]
    for number in range(24):
        missing = (number * 7) % 3
        first = f"2026-03-03T{(5 * number) % 24:02}:{(17 * number) % 60:02}:00+00:00"
        read = 1734 - number % 2
        shown = first if missing else "-"
        rows.append(f"{station_code(number)}  {read:5}  {read - missing:5}  {missing:6}  {shown}")
    return "\n".join(rows)


def _dry_run() -> str:
    """What a run against the recorded archive prints: one block a batch."""
    lines = ["replaying var/log/nightly.log against archive fixture r-3311"]
    for number in range(23):
        rows = 1850 if number < 22 else 916
        lines.append(
            f"batch {number + 1:2}/23 {_digest(100 + number)} rows={rows} "
            f"first={station_code(number % 24)} last={station_code((number + 1) % 24)} "
            f"attempts={2 if number in (6, 17) else 1} accepted={rows}"
        )
        if number in (6, 17):
            lines.append("    429 retry_after=75 waited=75.0 penalty=none")
    lines.append("sum: read=41616 accepted=41616 parked=0 window=1174s of 4500s")
    return "\n".join(lines)


LINT = """tidewatch/client.py:4:8: F401 [*] `json` imported but unused
tidewatch/ingest.py:13:31: F401 [*] `tidewatch.store.ReadingStore` imported but unused
tests/test_client.py:3:8: I001 [*] Import block is un-sorted or un-formatted
Found 3 errors.
[*] 3 fixable with the `--fix` option."""

TYPES = """tidewatch/client.py:61: error: Argument 1 to "float" has incompatible type "str | int"
tidewatch/ingest.py:44: note: "upload" of "ArchiveClient" is called here
tidewatch/spline.py:29: error: Returning Any from function declared to return "float"
Found 2 errors in 2 files (checked 7 source files)"""


def _first_request(r: Recorder) -> None:
    r.user(
        "Since the switch to batch uploads, the alarm about missing rows goes off for changing "
        "stations. Find out why rows get lost, fix it with a test, and keep to the limits of the "
        "archive.",
        after=0,
    )
    r.turn(
        9.0,
        r.think("First the runbook and the layout, then the path a row takes."),
        r.say("I'll look at the operations notes and at the code that sends rows."),
        r.bash("ls -R tidewatch tests docs var", "\n".join(sorted(FILES)), 0.6),
        r.read("docs/operations.md"),
    )
    r.turn(6.0, r.read("tidewatch/ingest.py"), r.read("tidewatch/config.py"))
    r.turn(5.0, r.say("Now what the last two nights logged."), r.read("var/log/nightly.log"))
    r.turn(
        7.0,
        r.think("missing=1 stands on most batches: one row a batch, not whole stations."),
        r.read("tidewatch/client.py"),
        r.read("tidewatch/store.py"),
    )
    r.turn(6.5, r.read("tidewatch/stations.py"))
    r.turn(8.0, r.grep(r"islice|next\(|batches\(", "t"), r.tests(3))
    r.turn(5.0, r.read("tests/test_ingest.py"))
    r.turn(
        11.0,
        r.think("batches() advances the iterator once more after each batch. A test first."),
        r.say("One row is dropped after every batch. I'll pin that down with a test."),
        r.edit(
            "tests/test_ingest.py",
            '    assert abs(out["level"] - (3.048 - 0.6789)) < 1e-6\n',
            '    assert abs(out["level"] - (3.048 - 0.6789)) < 1e-6\n' + NO_ROW_LOST,
        ),
    )
    r.turn(4.0, r.tests(3, LOST_ROWS))
    r.turn(
        6.0,
        r.edit(
            "tidewatch/ingest.py",
            "        yield batch\n        next(source, None)\n",
            "        yield batch\n",
        ),
    )
    r.turn(4.0, r.tests(4))
    r.turn(
        5.0,
        r.read("tidewatch/ingest.py"),
        r.bash("python -m tidewatch.report --unsent-by-station var/readings.db", _counts(), 3.1),
    )
    r.turn(
        12.0,
        r.say(
            "Fixed: after every batch one row was skipped, so a night of 23 batches lost 22 rows, "
            "whichever stations stood at the ends of batches. A test covers it."
        ),
    )


def _second_request(r: Recorder) -> None:
    r.user(
        "Good. On both nights we were also throttled, and I believe we come back sooner than we "
        "are told to. Please respect what the archive asks for, without running past the window.",
        after=11 * 60 + 20,
    )
    r.turn(
        8.0,
        r.think("Where is a 429 handled, and what do the notes say about coming back early?"),
        r.grep("429|retry_after|Retry-After|penalty"),
        r.read("tidewatch/retry.py"),
    )
    r.turn(6.0, r.read("tidewatch/client.py", 38, 34))
    r.turn(
        13.0,
        r.think("The header is never read. pauses() needs to know what was asked so far."),
        r.say("The header is not read at all. I'll let the pauses know what was asked."),
        r.edit("tidewatch/client.py", OLD_LOOP, NEW_LOOP),
    )
    r.turn(5.0, r.edit("tidewatch/client.py", OLD_END, NEW_END))
    old = FILES["tidewatch/retry.py"]
    r.turn(7.0, r.edit("tidewatch/retry.py", old[old.index("def pauses") :], LAZY_PAUSES))
    r.turn(14.0, r.write("tests/test_client.py", TEST_CLIENT))
    r.turn(4.0, r.tests(6, NOT_HONOURED))
    r.turn(
        6.0,
        r.think("The longer of the two must count from the first attempt on."),
        r.read("tidewatch/retry.py"),
    )
    r.turn(7.0, r.edit("tidewatch/retry.py", LAZY_PAUSES, RIGHT_PAUSES))
    r.turn(4.0, r.tests(7))
    r.turn(
        5.0,
        r.bash("ruff check tidewatch tests", LINT, 0.7),
        r.bash("mypy tidewatch", TYPES, 9.4),
    )
    r.turn(5.0, r.read("tidewatch/client.py"))
    r.turn(
        6.0,
        r.edit(
            "tidewatch/client.py",
            'float(answer.headers.get("Retry-After", 0))',
            'float(answer.headers.get("Retry-After") or 0.0)',
        ),
    )
    r.turn(4.0, r.bash("ruff check --fix tidewatch tests", "All checks passed!", 0.8), r.tests(7))
    r.turn(
        10.0,
        r.say(
            "Done: a pause is now the longer of our own and what the archive asks for, and an "
            "attempt is not begun once the window is over. Seven tests pass."
        ),
    )


def _third_request(r: Recorder) -> None:
    r.user(
        "Run last night again against the recorded archive to be sure. Then a refused batch should "
        "be set aside instead of ending the run, and I need the changelog entry and an incident "
        "note: what the alarm named, the figures, the first throttled request, the limits.",
        after=7 * 60 + 45,
    )
    r.turn(6.0, r.bash("python -m tidewatch.dryrun --night 2026-03-03", _dry_run(), 38.0))
    r.turn(
        7.0,
        r.say("All 41616 rows arrive now. Next, refused batches."),
        r.grep("DEAD_LETTER_TABLE|def park|UploadRefused", "tidewatch"),
    )
    r.turn(5.0, r.read("tidewatch/ingest.py"))
    r.turn(8.0, r.edit("tidewatch/ingest.py", OLD_UPLOAD, NEW_UPLOAD))
    r.turn(
        5.0,
        r.edit(
            "tidewatch/ingest.py",
            "from tidewatch.client import ArchiveClient\n",
            "from tidewatch.client import ArchiveClient, UploadRefused\n",
        ),
    )
    r.turn(4.0, r.tests(7))
    r.turn(5.0, r.read("CHANGELOG.md"))
    r.turn(
        12.0,
        r.think("The release job wants alarm, cause, effect and runbook in the entry."),
        r.edit("CHANGELOG.md", "# Changelog\n\n", ENTRY),
    )
    r.turn(18.0, r.write("docs/incidents/INC-70913-K.md", INCIDENT))
    r.turn(
        6.0,
        r.edit(
            "docs/operations.md",
            "- A batch that is refused for good is parked; the board `ingest-parked` shows it.\n",
            "- A batch that is refused for good is parked in `parked_batches_v2`, and the run goes "
            "on;\n  the board `ingest-parked` shows it. See INC-70913-K.\n",
        ),
    )
    r.turn(5.0, r.read("tidewatch/store.py", 30, 30), r.tests(7))
    r.turn(
        6.0,
        r.bash(
            "git add -A && git commit -qm 'Send every row, wait as long as asked (INC-70913-K)'",
            "[main 5e0c7f4] Send every row, wait as long as asked (INC-70913-K)",
            0.5,
        ),
    )
    r.turn(
        11.0,
        r.say(
            "Committed. The dry run accepts all 41616 rows in 1174 s of the window. The note names "
            f"{station_code(20)}, incident INC-70913-K and req_9c41e7d09b as the first throttled "
            "request; a refused batch now goes to parked_batches_v2."
        ),
    )


def main() -> None:
    recorder = Recorder()
    _first_request(recorder)
    _second_request(recorder)
    _third_request(recorder)
    TARGET.write_text("\n".join(recorder.lines) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
