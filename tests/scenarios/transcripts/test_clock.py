import pytest

from scenarios.transcripts.clock import seconds


@pytest.mark.parametrize(
    ("value", "time"),
    [
        (None, None),
        ("1970-01-01T00:00:10Z", 10.0),
        ("1970-01-01T00:00:10.250+00:00", 10.25),
        ("1970-01-01T01:00:00+01:00", 0.0),
        (" 1970-01-01T00:00:10 ", 10.0),
        (0, 0.0),
        (1_733_343_927.65, 1_733_343_927.65),
        (1_733_343_927_650, 1_733_343_927.65),
    ],
)
def test_times(value, time):
    assert seconds(value) == time


@pytest.mark.parametrize(
    "value",
    [
        "",
        "soon",
        "2026-13-01T00:00:00Z",
        True,
        [],
        {},
        -1,
        float("nan"),
        float("inf"),
        10**400,
        1e300,
    ],
)
def test_what_is_no_time(value):
    with pytest.raises(ValueError, match="a time that cannot be read"):
        seconds(value)
