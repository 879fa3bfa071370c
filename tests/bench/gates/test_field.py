"""The gates that policies of the field stand in for: they hold as those built from parts do."""

import pytest

from bench.gates import field_cache_break_timing, field_triage_length, triage_length
from bench.gates.gate import Inputs


@pytest.mark.parametrize("gate", [field_cache_break_timing.GATE, field_triage_length.GATE])
def test_they_agree(gate):
    verdict = gate.run(Inputs())
    assert all(criterion.passed for criterion in verdict.criteria), verdict.criteria


def test_compaction_by_the_provider_saves_what_compaction_saves():
    """Both summarise in the same turn; the provider takes the task along, 1,000 of 80,000."""
    own, field = (
        gate.run(Inputs()).simulated["long, compaction, %"]
        for gate in (triage_length.GATE, field_triage_length.GATE)
    )
    assert field == pytest.approx(own, abs=0.5)
