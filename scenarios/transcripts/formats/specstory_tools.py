"""The tool uses of SpecStory Markdown: what a block shows of a call, and its result.

Every agent's reader writes blocks of its own: key and value pairs in code marks, a command or a
path in code marks, a patch in ``diff`` fences, an input in a fence that is named so. The result is
the fence behind that; where it is text, its own fences may or may not be escaped, so it is taken to
go on to the last fence of the block.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

__all__ = ["Use", "plain_use", "tool_use"]

_TAG = re.compile(r'<tool-use data-tool-type="([^"]*)" data-tool-name="([^"]*)">')
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_FENCE = re.compile(r"```\w*\s*")
_INPUT = re.compile(r"Input(?: \(truncated\))?: ```\w*\s*")
_ESCAPED = re.compile(r"^\\(?=```)", re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_PAIR = re.compile(r"(?:^|[\s-])(\w+):? `([^`\n]+)`")
_PLAIN = re.compile(r"Tool use: \*\*([^*\n]+)\*\*([^\n]*)")
_PATCHED = re.compile(r"\*\*(Add|Update|Delete)(?: File)?: `([^`\n]+)`\*\*\s*")
_NAMED = re.compile(
    r"(?:The file (\S.*?) has been (?:updated|created)|File created successfully at: (\S.*))"
)
_PATCH = "apply_patch"


@dataclass(frozen=True, slots=True)
class Use:
    """A tool's call, as far as the block shows it, and its *result*, None if it shows none."""

    name: str
    arguments: Any
    result: str | None
    failed: bool = False


def tool_use(lines: list[str]) -> Use:
    """Return what the lines of a ``<tool-use>`` block hold."""
    text = "\n".join(lines)
    tag = _TAG.match(text)
    kind, name = (tag[1], tag[2]) if tag else ("", "unknown")
    summary = _SUMMARY.search(text)
    if summary is None:
        body, shown = text.partition("\n")[2], ""
    else:
        body, shown = text[summary.end() :], summary[1]
    front, closed, _ = body.rpartition("</details></tool-use>")
    return _use(kind, name or "unknown", shown, front if closed else body)


def _use(kind: str, name: str, shown: str, body: str) -> Use:
    if name == _PATCH and (patch := _patch(body)) is not None:
        return Use(name, patch, None)
    front, fenced, failed = _parts(body)
    arguments = _arguments(kind, _PLAIN.sub(r"\2", shown), front)
    if fenced is not None and kind == "write" and "content" in arguments:
        arguments.setdefault("file_path", _written(fenced) or "")
    elif fenced is not None and kind == "write" and not arguments:
        arguments = {"file_path": path} if (path := _written(fenced)) else {}
    return Use(name, arguments, fenced, failed)


def _parts(body: str) -> tuple[str, str | None, bool]:
    """Return what a block shows of the call, the result, and whether that is an error."""
    for mark, failed in (("**Result:**", False), ("**Error:**", True)):
        front, found, back = body.partition(f"\n{mark}\n")
        if found:
            return front, _fenced(back.split("\n"))[1], failed
    front, answered, answer = body.partition("\n**Answer:**")
    if answered and not _FENCE.search(front):
        return front, answer.strip(), False
    lines = body.split("\n")
    if (
        named := next((n for n, line in enumerate(lines) if _INPUT.fullmatch(line)), None)
    ) is not None:
        closes = (n for n in range(named + 1, len(lines)) if lines[n].rstrip() == "```")
        end = next(closes, len(lines))
        inner = ["```", *lines[named + 1 : end], "```"]
        return "\n".join([*lines[:named], *inner]), _fenced(lines[end + 1 :])[1], False
    fences = [n for n, line in enumerate(lines) if _FENCE.fullmatch(line)]
    split = _second(lines, fences)
    before, result = _fenced(lines[split:])
    return "\n".join([*lines[:split], before]), result, False


def _second(lines: list[str], fences: list[int]) -> int:
    """Return where a second fence begins that follows a first one, which then shows the input."""
    for one, two in pairwise(fences):
        if one == fences[0]:
            continue
        closed = lines[one].rstrip() == "```" and lines[two].rstrip() != "```"
        if closed and two == one + 2 and not lines[one + 1].strip():
            return two
    return 0


def _fenced(lines: list[str]) -> tuple[str, str | None]:
    """Return what stands before the first fence, and what between it and the last one."""
    fences = [n for n, line in enumerate(lines) if _FENCE.fullmatch(line)]
    if not fences:
        return "\n".join(lines), None
    first, last = fences[0], fences[-1]
    inner = lines[first + 1 : last if last > first else len(lines)]
    return "\n".join(lines[:first]), _ESCAPED.sub("", "\n".join(inner))


def _arguments(kind: str, shown: str, front: str) -> dict[str, Any]:
    """Return what a block shows of the arguments, by the names it gives or the likely ones."""
    text = f"{shown}\n{front}".strip()
    head, fenced = _fenced(text.split("\n"))
    if fenced is not None:
        name = "content" if kind == "write" else "input"
        return {**_named(kind, head), name: fenced.strip("\n")}
    return _named(kind, text)


def _named(kind: str, text: str) -> dict[str, Any]:
    text = text.replace("**Input:**", "").strip()
    if pairs := dict(_PAIR.findall(text)):
        return pairs
    codes = _CODE.findall(text)
    said = " ".join(_CODE.sub("", text).split())
    found: dict[str, Any] = {"description": said} if said.strip("` ") else {}
    if codes:
        key = {"read": "file_path", "write": "file_path", "shell": "command"}.get(kind, "input")
        found[key] = codes[0] if len(codes) == 1 or key == "file_path" else "\n".join(codes)
    return found


def _written(result: str) -> str | None:
    """Return the path that the result of an edit names."""
    found = _NAMED.match(result.strip())
    return (found[1] or found[2]).strip() if found else None


def _patch(body: str) -> str | None:
    """Return the patch that ``diff`` fences show, in the envelope of its tool."""
    parts = list(_PATCHED.finditer(body))
    if not parts:
        return None
    out = ["*** Begin Patch"]
    for number, part in enumerate(parts):
        end = parts[number + 1].start() if number + 1 < len(parts) else len(body)
        out.append(f"*** {part[1]} File: {part[2]}")
        diff = _fenced(body[part.end() : end].split("\n"))[1]
        out += [diff] if diff else []
    return "\n".join([*out, "*** End Patch"])


def plain_use(text: str) -> Use | None:
    """Return the tool use that a message writes out as text, None if it is none."""
    found = _PLAIN.match(text)
    if found is None:
        return None
    name, body = found[1].strip(), text[found.end() :]
    kind = "shell" if "exec" in name or "shell" in name or name == "Bash" else ""
    return _use(kind, name, found[2], body)
