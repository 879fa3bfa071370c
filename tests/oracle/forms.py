"""The forms in which a result enters: at what size, and what each of them states."""

from __future__ import annotations

# Readings that the definition leaves open, as the project settled them.
ENDS_BY_FLAG = False
"""Whether head and tail, where no structure is known, go by `reducible`, and not by `at`."""
LEAST_IS_OF_ARRIVAL = False
"""Whether to what size a result can be reduced is settled when it arrives, until the world
replaces it where it stands."""


class Forms:
    """What a world knows of sizes and of facts at the door; part of :class:`World`."""

    def reduction(self, source):
        """Return the size, over its limit, of what the structure of *source* leaves."""
        structure = source.structure
        if source.reduced_tokens is not None:
            return max(1, min(source.limit, source.reduced_tokens))
        if structure is None:
            return source.limit
        fit = (source.limit - structure["notice_tokens"]) // structure["entry_tokens"]
        fit = max(0, min(fit, structure["groups"]))
        size = fit * structure["entry_tokens"] + structure["notice_tokens"]
        return max(1, min(source.limit, size))

    def ends(self, source):
        return source.structure is None and source.reduced_tokens is None

    def smallest(self, source):
        """Return the smallest size in which *source* can stand in the window."""
        raw, least = self.raw_size(source), self.least(source)
        return raw if least is None else min(raw, least)

    def least(self, source):
        """Return the size to which *source* can be reduced, None if it is not over its limit."""
        if source.least != "now":
            return source.least
        if source.limit is None or self.raw_size(source) <= source.limit:
            return None
        return self.reduction(source)

    def newest(self):
        """The most recent result of each tool, as soon as it has come to the door."""
        newest = {}
        for s in self.sources.values():
            if s.kind == "tool_result" and s.tool is not None:
                newest[s.tool] = s
        return newest.values()

    def before(self, source):
        """Return the result of the same tool before *source*, if it has come to the door."""
        found = None
        for s in self.sources.values():
            if s is source:
                break
            if s.kind == "tool_result" and s.tool == source.tool and s.tool is not None:
                found = s
        return found

    def way(self, source):
        """Return in which form *source* would enter now, and at what size."""
        raw, way, least = self.raw_size(source), self.policy.arrival, self.least(source)
        how, size = "whole", raw
        if way != "off" and least is not None and min(least, source.limit) < raw:
            if way == "page" or (way == "on" and source.pages):
                how, size = "page", source.limit
            elif way == "head-tail" or (self.ends(source) and not ENDS_BY_FLAG):
                how, size = "ends", source.limit
            else:
                how, size = "reduced", least
            if way == "spill":
                how, size = f"{how} and pointer", size + self.set["surrogate.tag_tokens"]
                size = min(source.limit, size)
        before = self.before(source)
        delta = source.delta_tokens if self.policy.delta else None
        if delta is not None and delta < size and before and self.resident(before) is not None:
            return "delta", delta
        return how, size

    def entering(self, source):
        """Return the size at which *source* would enter under this policy."""
        return self.way(source)[1]

    def place(self, source, fact):
        """Return where *fact* stands in *source*, in tokens from the front."""
        last = self.raw_size(source) - 1
        if fact.get("at") is not None:
            return min(fact["at"], last)
        return 0 if fact.get("reducible", True) else last

    def page_of(self, source, fact):
        """Return the number of the page on which *fact* stands, from 1."""
        return self.place(source, fact) // source.limit + 1

    def says(self, source, fact, how):
        """Tell whether *source* in the form *how* states *fact*."""
        raw, half = self.raw_size(source), (source.limit or 0) // 2
        if how.startswith("ends"):
            return not half <= self.place(source, fact) < raw - (source.limit - half)
        if how.startswith("reduced"):
            return fact.get("reducible", True)
        if how == "page":
            return self.page_of(source, fact) == 1
        if how == "delta":
            known = [(f["key"], f["value"]) for f in source.rests_on.facts]
            return (fact["key"], fact["value"]) not in known
        return True

    def fact_keys(self, source, how):
        """Return the keys that a full copy states, after :meth:`see`."""
        keys = [f["key"] for f in source.facts if self.says(source, f, how)]
        return dict.fromkeys(keys, (source, self.version(source)))
