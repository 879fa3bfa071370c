"""The random workloads by name. A new family is one new file and one row here."""

from __future__ import annotations

from scenarios.families import coding_agent, doc_analysis, support_agent, tool_loop
from scenarios.families.common import Family

__all__ = ["FAMILIES", "GENERATORS", "Family"]

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (doc_analysis.FAMILY, coding_agent.FAMILY, support_agent.FAMILY)
}
"""Those that ship as scenarios."""

GENERATORS: dict[str, Family] = {**FAMILIES, tool_loop.FAMILY.name: tool_loop.FAMILY}
"""Those and the ones that are only there for files and for pinned scenarios."""
