"""The repository on which the demo session works: invented, and nowhere but here."""

from __future__ import annotations

import uuid

__all__ = ["FILES", "station_code"]

_NAMES = """
Aldersound Blackfirth Cormorant Dunmere Eastholm Farreach Greyhaven Hollowmouth Inverdale
Jarlsund Kelpness Longstrand Marram Northgate Oystercrag Pellwick Quaymoor Redscar Saltburgh
Ternholm Ullness Vantmouth Westerquay Yarrowbay
"""


def station_code(number: int) -> str:
    """Return the code of a station, counted from 0."""
    return f"TW-{1040 + 37 * number}-{'QXVKMR'[number % 6]}{number % 9}"


def _station_rows() -> str:
    rows = []
    for number, name in enumerate(_NAMES.split()):
        code = station_code(number)
        offset = round(-1.9 + (number * 0.6173) % 3.1, 4)
        unit = "feet" if number in (7, 12, 19) else "metres"
        lag = 240 + (number * 53) % 410
        rows.append(
            f'    Station(code="{code}", name="{name}", datum_offset={offset}, '
            f'unit="{unit}", telemetry_lag_seconds={lag}),'
        )
    return "\n".join(rows)


CONFIG = '''"""Limits of the upstream archive and of our own pipeline."""

# The archive closes an upload window this long after it was opened.
UPLOAD_WINDOW_SECONDS = 4500

# A batch with more rows than this is refused whole (HTTP 413).
MAX_BATCH_ROWS = 1850

# Attempts before a batch is parked in the dead-letter table.
MAX_ATTEMPTS = 6

# First pause between two attempts; it doubles, up to the cap.
RETRY_BASE_SECONDS = 1.25
RETRY_CAP_SECONDS = 96.0

# Readings further than this from the station's spline are flagged.
OUTLIER_THRESHOLD_MM = 612.5

ARCHIVE_URL = "https://archive.tidewatch.example/v3/batches"
DEAD_LETTER_TABLE = "parked_batches_v2"
'''

STATIONS = f'''"""The gauges we read, with what is needed to make their readings comparable."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Station:
    """A tide gauge: *datum_offset* is in metres, whatever *unit* its readings come in."""

    code: str
    name: str
    datum_offset: float
    unit: str
    telemetry_lag_seconds: int


STATIONS = (
{_station_rows()}
)

BY_CODE = {{station.code: station for station in STATIONS}}


def station_for(code: str) -> Station:
    """Return the station with that code; raises KeyError for one that was decommissioned."""
    return BY_CODE[code]
'''

INGEST = '''"""Nightly ingest: readings of the last day, made comparable, uploaded in batches."""

import logging
from collections.abc import Iterable, Iterator
from itertools import islice

from tidewatch.client import ArchiveClient
from tidewatch.config import MAX_BATCH_ROWS, OUTLIER_THRESHOLD_MM
from tidewatch.spline import expected_level
from tidewatch.stations import station_for
from tidewatch.store import ReadingStore

log = logging.getLogger("tidewatch.ingest")

FEET_TO_METRES = 0.3048


def normalised(rows: Iterable[dict]) -> Iterator[dict]:
    """Yield rows in metres above the common datum, outliers flagged."""
    for row in rows:
        station = station_for(row["station"])
        level = row["level"]
        if station.unit == "feet":
            level *= FEET_TO_METRES
        level += station.datum_offset
        expected = expected_level(station.code, row["taken_at"])
        flagged = abs(level - expected) * 1000 > OUTLIER_THRESHOLD_MM
        yield {**row, "level": level, "flagged": flagged}


def batches(rows: Iterable[dict], size: int = MAX_BATCH_ROWS) -> Iterator[list[dict]]:
    """Yield lists of at most *size* rows."""
    source = iter(rows)
    while batch := list(islice(source, size)):
        yield batch
        next(source, None)


def run_nightly(store: ReadingStore, client: ArchiveClient) -> int:
    """Upload everything that was read since the last run; return the number of rows."""
    sent = 0
    for batch in batches(normalised(store.unsent_rows())):
        receipt = client.upload(batch)
        store.mark_sent(batch, receipt.batch_digest)
        sent += receipt.accepted_rows
        log.info("batch %s: %d rows accepted", receipt.batch_digest, receipt.accepted_rows)
    return sent
'''

CLIENT = '''"""The archive's upload interface, version 3."""

import hashlib
import json
import time
from dataclasses import dataclass

import requests

from tidewatch.config import ARCHIVE_URL, MAX_ATTEMPTS, UPLOAD_WINDOW_SECONDS
from tidewatch.retry import pauses


@dataclass(frozen=True)
class Receipt:
    batch_digest: str
    accepted_rows: int
    archive_revision: str


class UploadRefused(Exception):
    """The archive will not take the batch, however often it is sent."""


class WindowClosed(Exception):
    """The upload window ended before the batch was accepted."""


class ArchiveClient:
    """Uploads batches; one instance serves one upload window."""

    def __init__(self, token: str, session: requests.Session | None = None) -> None:
        self._session = session or requests.Session()
        self._session.headers["Authorization"] = f"Bearer {token}"
        self._opened_at = time.monotonic()

    def upload(self, rows: list[dict]) -> Receipt:
        """Send *rows* until they are accepted; raises UploadRefused or WindowClosed."""
        body = json.dumps(rows, sort_keys=True, separators=(",", ":")).encode()
        digest = hashlib.sha256(body).hexdigest()[:16]
        for attempt, pause in enumerate(pauses(MAX_ATTEMPTS), 1):
            if time.monotonic() - self._opened_at > UPLOAD_WINDOW_SECONDS:
                raise WindowClosed(digest)
            answer = self._session.put(
                f"{ARCHIVE_URL}/{digest}",
                data=body,
                headers={"X-Tidewatch-Attempt": str(attempt)},
                timeout=42,
            )
            if answer.status_code == 202:
                data = answer.json()
                return Receipt(digest, data["accepted_rows"], data["archive_revision"])
            if answer.status_code in (400, 413):
                raise UploadRefused(f"{digest}: {answer.text}")
            time.sleep(pause)
        raise UploadRefused(f"{digest}: still refused after {MAX_ATTEMPTS} attempts")
'''

RETRY = '''"""How long to wait between two attempts."""

from collections.abc import Iterator

from tidewatch.config import RETRY_BASE_SECONDS, RETRY_CAP_SECONDS


def pauses(attempts: int) -> Iterator[float]:
    """Yield the pause after each attempt: doubled each time, up to the cap."""
    pause = RETRY_BASE_SECONDS
    for _ in range(attempts):
        yield pause
        pause = min(pause * 2, RETRY_CAP_SECONDS)
'''

STORE = '''"""Readings on disk: a SQLite file with one row a reading."""

import sqlite3
from collections.abc import Iterator

from tidewatch.config import DEAD_LETTER_TABLE

SCHEMA = f"""
CREATE TABLE IF NOT EXISTS readings (
    station TEXT NOT NULL,
    taken_at TEXT NOT NULL,
    level REAL NOT NULL,
    sent_digest TEXT,
    PRIMARY KEY (station, taken_at)
);
CREATE INDEX IF NOT EXISTS idx_unsent_by_station ON readings (sent_digest, station);
CREATE TABLE IF NOT EXISTS {DEAD_LETTER_TABLE} (
    batch_digest TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    parked_at TEXT NOT NULL
);
"""


class ReadingStore:
    """Rows that were read, and which of them the archive has."""

    def __init__(self, path: str) -> None:
        self._db = sqlite3.connect(path)
        self._db.executescript(SCHEMA)

    def unsent_rows(self) -> Iterator[dict]:
        """Yield the rows without a digest, station by station."""
        cursor = self._db.execute(
            "SELECT station, taken_at, level FROM readings"
            " WHERE sent_digest IS NULL ORDER BY station, taken_at"
        )
        for station, taken_at, level in cursor:
            yield {"station": station, "taken_at": taken_at, "level": level}

    def mark_sent(self, rows: list[dict], batch_digest: str) -> None:
        """Book *rows* as sent with that batch."""
        with self._db:
            self._db.executemany(
                "UPDATE readings SET sent_digest = ? WHERE station = ? AND taken_at = ?",
                [(batch_digest, row["station"], row["taken_at"]) for row in rows],
            )

    def park(self, batch_digest: str, reason: str, parked_at: str) -> None:
        """Put a batch aside that the archive refuses."""
        with self._db:
            self._db.execute(
                f"INSERT OR REPLACE INTO {DEAD_LETTER_TABLE} VALUES (?, ?, ?)",
                (batch_digest, reason, parked_at),
            )
'''

SPLINE = '''"""Expected water level from the harmonic constituents of a station."""

import math
from datetime import datetime

# amplitude in metres, speed in degrees an hour, phase in degrees
CONSTITUENTS = {
    "M2": (1.1834, 28.9841042, 112.3),
    "S2": (0.4021, 30.0, 147.9),
    "N2": (0.2267, 28.4397295, 96.4),
    "K1": (0.1098, 15.0410686, 201.7),
    "O1": (0.0873, 13.9430356, 178.2),
}

EPOCH = datetime.fromisoformat("2020-01-01T00:00:00+00:00")


def expected_level(code: str, taken_at: str) -> float:
    """Return the level that the tables predict for a station, in metres above the datum."""
    hours = (datetime.fromisoformat(taken_at) - EPOCH).total_seconds() / 3600
    shift = sum(map(ord, code)) % 29
    return sum(
        amplitude * math.cos(math.radians(speed * hours - phase - shift))
        for amplitude, speed, phase in CONSTITUENTS.values()
    )
'''

TEST_INGEST = """from tidewatch.ingest import batches, normalised


def rows(count):
    return [
        {"station": "TW-1040-Q0", "taken_at": f"2026-03-04T{n // 60:02}:{n % 60:02}:00+00:00",
         "level": 1.0 + n / 1000}
        for n in range(count)
    ]


def test_a_short_day_is_one_batch():
    assert [len(b) for b in batches(rows(3), size=10)] == [3]


def test_levels_are_moved_to_the_common_datum():
    (row,) = normalised(rows(1))
    assert row["level"] == 1.0 - 1.9


def test_feet_become_metres():
    row = {"station": "TW-1299-X7", "taken_at": "2026-03-04T00:00:00+00:00", "level": 10.0}
    (out,) = normalised([row])
    assert abs(out["level"] - (3.048 - 0.6789)) < 1e-6
"""

OPERATIONS = """# Operations

## Nightly ingest

The job `tidewatch-nightly` starts at 02:40 UTC on host class `gauge-runner-small`. It opens one
upload window at the archive and sends everything that is unsent.

- The archive takes at most the rows of `MAX_BATCH_ROWS` in a batch and answers 202 with the number
  of rows it accepted. A batch is idempotent by its digest: sending it again is harmless.
- While it is overloaded it answers 429 with `Retry-After` in seconds. Clients that come back
  earlier are put into the penalty queue `slow-lane-b7` for 1,800 seconds.
- A batch that is refused for good is parked; the board `ingest-parked` shows it.

## Alarms

| alarm | condition | runbook |
|---|---|---|
| `INGEST_ROWS_MISSING` | accepted rows < read rows for a station, two nights in a row | RB-2281 |
| `INGEST_WINDOW_CLOSED` | the window ended with rows unsent | RB-2290 |
| `INGEST_PENALTY` | the archive put us into the penalty queue | RB-2304 |

## Releasing

Every change has an entry in `CHANGELOG.md` with alarm, cause and effect. The release job checks
that the entry names the runbook.
"""

CHANGELOG = """# Changelog

## 3.8.1

- Readings in feet are converted before the datum offset is applied (INGEST_ROWS_MISSING, RB-2281).

## 3.8.0

- Uploads go to version 3 of the archive, in batches.
"""


def _log_lines() -> str:
    lines = []
    for number in range(34):
        second = 7 + 11 * number
        stamp = f"2026-03-0{3 + number // 17}T02:{40 + second // 60:02}:{second % 60:02}Z"
        digest = uuid.uuid5(uuid.NAMESPACE_URL, f"batch {number}").hex[:16]
        if number in (9, 26):
            lines.append(
                f"{stamp} WARN tidewatch.client request=req_9c41e7d{number:02}b status=429 "
                f"retry_after=75 batch={digest} attempt={number % 3 + 1}"
            )
            continue
        code = station_code(number % 24)
        missing = " missing=1" if number % 3 else ""
        lines.append(
            f"{stamp} INFO tidewatch.ingest batch={digest} rows={1850 - number % 2} "
            f"last_station={code}{missing}"
        )
    lines.append(
        "2026-03-04T02:51:44Z ERROR tidewatch.ingest alarm=INGEST_ROWS_MISSING "
        "station=TW-1780-V2 read=41616 accepted=41594 incident=INC-70913-K"
    )
    return "\n".join(lines)


FILES = {
    "tidewatch/config.py": CONFIG,
    "tidewatch/stations.py": STATIONS,
    "tidewatch/ingest.py": INGEST,
    "tidewatch/client.py": CLIENT,
    "tidewatch/retry.py": RETRY,
    "tidewatch/store.py": STORE,
    "tidewatch/spline.py": SPLINE,
    "tests/test_ingest.py": TEST_INGEST,
    "docs/operations.md": OPERATIONS,
    "CHANGELOG.md": CHANGELOG,
    "var/log/nightly.log": _log_lines() + "\n",
}
