from __future__ import annotations

import pytest

from bench.pages import put_figures
from sim.errors import InputError


def test_a_figure_replaces_what_stood_there_and_nothing_else() -> None:
    page = "a\n<!-- figures: x -->\nold\n<!-- end -->\nb\n<!-- figures: y -->\nstays\n<!-- end -->"
    put = put_figures(page, {"x": "new\n"})
    assert put == page.replace("\nold\n", "\n\nnew\n\n")
    assert put_figures(put, {"x": "new"}) == put


@pytest.mark.parametrize("page", ["none", "<!-- figures: x -->\n<!-- end -->\n" * 2])
def test_a_figure_has_one_place(page: str) -> None:
    with pytest.raises(InputError, match="places for the figure 'x'"):
        put_figures(page, {"x": "new"})
