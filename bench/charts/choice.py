"""The choice of what a chart is of, and what is shown where nothing was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sim.errors import InputError, unknown

if TYPE_CHECKING:
    from bench.api import Comparison

__all__ = ["Choice", "chosen_run", "chosen_scenario", "first_of", "rows_of"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a comparison a chart shows; None leaves it to the comparison.

    *metric* is for charts that show one value of a run among many.
    """

    scenario: str | None = None
    price: str | None = None
    policy: str | None = None
    seed: int = 0
    metric: str | None = None


def chosen_scenario(found: Comparison, choice: Choice) -> Choice:
    """Return *choice* with a scenario and a price.

    By default it is the first scenario that was run on several seeds, else the first, at the first
    price that it was run at. Raises InputError, with the nearest name, for one that was not run.
    """
    if not found.rows:
        raise InputError("there is nothing to show: no run was finished")
    scenario = choice.scenario
    names = list(dict.fromkeys(row["scenario"] for row in found.rows))
    if scenario is None:
        scenario = next((row["scenario"] for row in found.rows if row["seed"]), names[0])
    if scenario not in names:
        raise InputError(unknown("scenario", scenario, names))
    prices = list(dict.fromkeys(r["price"] for r in found.rows if r["scenario"] == scenario))
    price = prices[0] if choice.price is None else choice.price
    if price not in prices:
        raise InputError(unknown("price", price, prices))
    return replace(choice, scenario=scenario, price=price)


def chosen_run(found: Comparison, choice: Choice) -> Choice:
    """Return *choice* with a scenario, a price and a policy: by default the one that ranks first.

    Raises InputError, with the nearest name, for one that was not run.
    """
    choice = chosen_scenario(found, choice)
    rows = rows_of(found, choice)
    known = list(dict.fromkeys(row["policy"] for row in rows))
    policy = first_of(found, choice) if choice.policy is None else choice.policy
    if policy not in known:
        raise InputError(unknown("policy", policy, known))
    return replace(choice, policy=policy)


def rows_of(found: Comparison, choice: Choice) -> list[dict[str, Any]]:
    """Return the rows of the scenario and price of *choice*, which has both."""
    key = choice.scenario, choice.price
    return [row for row in found.rows if (row["scenario"], row["price"]) == key]


def first_of(found: Comparison, choice: Choice) -> str:
    """Return the policy that wins by the goal of *found*, or ranks first, else the first that ran.

    *choice* has a scenario and a price.
    """
    from bench.verdict import places

    key = choice.scenario, choice.price
    for line in found.winners:
        if (line["scenario"], line["price"]) == key and line["winner"] is not None:
            return str(line["winner"])
    rows = rows_of(found, choice)
    lines = [line for line in found.lines if (line["scenario"], line["price"]) == key]
    ranked = places(rows, lines)
    done = {row["policy"] for row in rows if row["status"] == "completed"}
    first = [policy for policy, at in ranked.items() if at.place == 1 and policy in done]
    return first[0] if first else str(_ran(rows)["policy"])


def _ran(rows: list[dict[str, Any]]) -> Mapping[str, Any]:
    return next((row for row in rows if row["status"] != "not-applicable"), rows[0])
