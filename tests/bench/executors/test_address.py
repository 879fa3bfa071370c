from __future__ import annotations

import pytest

from bench.executors.address import scheduler
from sim.errors import InputError


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("processes", None),
        ("dask", None),
        ("dask://10.0.0.7:9000", "tcp://10.0.0.7:9000"),
        ("dask://scheduler", "tcp://scheduler:8786"),
        ("dask://scheduler:8786/", "tcp://scheduler:8786"),
        ("tcp://scheduler:1", "tcp://scheduler:1"),
        ("tls://scheduler:1", "tls://scheduler:1"),
        ("dask://[::1]:8786", "tcp://[::1]:8786"),
    ],
)
def test_words_and_addresses(text: str, address: str | None) -> None:
    assert scheduler(text) == address


@pytest.mark.parametrize("text", ["", "daks", "Dask", "http://host:1", "host:8786", "dask:host"])
def test_what_is_neither_is_told_what_there_is(text: str) -> None:
    with pytest.raises(InputError, match="it is processes, dask or dask://HOST:PORT") as error:
        scheduler(text)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize(
    "text", ["dask://", "dask://:8786", "dask://host:port", "dask://host:99999", "tcp://host:1/x"]
)
def test_an_address_that_is_none_is_told_its_form(text: str) -> None:
    protocol = text.partition(":")[0]
    with pytest.raises(InputError, match=f"write {protocol}://HOST:PORT"):
        scheduler(text)
