import re
from pathlib import Path

import pytest

from policies.check import check
from policies.registry import make, names, options

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "policies.md").read_text()
FIELD = (DOCS / "harness.md").read_text()


def section(name):
    """The text on a policy: its heading is its name, and what stands behind it in brackets."""
    heading = rf"^##+ {re.escape(name)}(?=\s).*?(?=^##|\Z)"
    found = re.search(heading, f"{TEXT}\n{FIELD}", re.M | re.S)
    assert found, name
    return found[0]


@pytest.mark.parametrize("name", names())
def test_each_option_is_in_the_page(name):
    shared = "tag-or-drop", "slack-swap-refuse", "tiered"
    own = section(name)
    if name == "disciplined":
        own += "".join(map(section, shared))
    for option in options(name):
        assert f"`{option.name}`" in own


@pytest.mark.parametrize("name", names())
def test_each_declaration_is_in_the_page(name):
    for rule in make(name).declares:
        assert f"`{rule}`" in section(name)


def test_the_example_works(tmp_path):
    code = re.search(r"```python\n(.*?)```", TEXT, re.S)[1]
    path = tmp_path / "mine.py"
    path.write_text(code)
    findings = check(lambda: make(f"{path}:Largest"))
    assert findings == []
