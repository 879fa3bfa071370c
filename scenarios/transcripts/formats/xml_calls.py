"""Tool calls and results written as text, as Cline and Roo Code put them before native ones.

The model writes a call as an element named for the tool, with an element for each parameter. What
comes back is a user message that begins ``[TOOL for 'ARGUMENT'] Result:``; at its end the harness
adds ``<environment_details>``, and what the user says to it stands in ``<feedback>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Call", "Came", "came", "failed", "has_details", "with_path", "written"]

_TOOLS = (
    *("access_mcp_resource", "apply_diff", "ask_followup_question", "attempt_completion"),
    *("browser_action", "codebase_search", "condense", "edit_file", "execute_command"),
    *("fetch_instructions", "generate_image", "insert_content", "list_code_definition_names"),
    *("list_files", "load_mcp_documentation", "new_rule", "new_task", "plan_mode_respond"),
    *("read_file", "replace_in_file", "report_bug", "run_slash_command", "search_and_replace"),
    *("search_files", "switch_mode", "update_todo_list", "use_mcp_tool", "use_subagents"),
    *("web_fetch", "web_search", "write_to_file"),
)
_OPEN = re.compile(f"<({'|'.join(_TOOLS)})>")
_PARAMETER = re.compile(r"<(\w+)>")
_PATH = re.compile(r"<path>\s*([^<\n]+?)\s*</path>")
_HEADER = re.compile(r"^\[(\w+)\b([^\n]*?)\] Result:", re.MULTILINE)
_ARGUMENT = re.compile(r" for '([^\n]*?)'(?:\.|$)")
_DETAILS = "<environment_details>"
_SAID = ("feedback", "user_message")
_FAILED = re.compile(
    r"\s*(?:<error_details>|<error>|The tool execution failed|The user denied|Error[: ]|"
    r"\[ERROR\]|Missing value for required)"
)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the model wrote it."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Came:
    """A part of what came to the model: of *kind* ``result``, ``user`` or ``details``.

    A result names its *tool* and the *argument* that the harness shows of the call.
    """

    kind: str
    text: str
    tool: str = ""
    argument: str = ""


def written(text: str) -> list[str | Call]:
    """Return what a message of the model holds, in order: texts and tool calls."""
    found: list[str | Call] = []
    at = 0
    while (opened := _OPEN.search(text, at)) is not None:
        name = opened[1]
        end = text.find(f"</{name}>", opened.end())
        if name == "write_to_file":
            end = max(end, text.rfind(f"</{name}>", opened.end()))
        inner = text[opened.end() : end if end >= 0 else len(text)]
        if said := text[at : opened.start()].strip():
            found.append(said)
        found.append(Call(name, with_path(_parameters(inner))))
        at = len(text) if end < 0 else end + len(name) + 3
    if said := text[at:].strip():
        found.append(said)
    return found


def _parameters(inner: str) -> dict[str, Any]:
    """Return the parameters of a call; a last one that was cut goes on to the end."""
    found: dict[str, Any] = {}
    at = 0
    while (opened := _PARAMETER.search(inner, at)) is not None:
        name = opened[1]
        closing = f"</{name}>"
        last = name in ("content", "diff")
        end = (inner.rfind if last else inner.find)(closing, opened.end())
        end = len(inner) if end < 0 else end
        found[name] = inner[opened.end() : end].strip("\n")
        at = end + len(closing)
    return found


def with_path(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments that name the one file that nested ``args`` name as ``path``, too."""
    nested = arguments.get("args")
    if isinstance(nested, str) and "path" not in arguments:
        paths = set(_PATH.findall(nested))
        if len(paths) == 1:
            return {"path": paths.pop(), **arguments}
    return arguments


def has_details(text: str) -> bool:
    """Whether a text bears the marks of these harnesses: details, a task or a named result."""
    return _DETAILS in text or text.startswith("<task>") or _HEADER.match(text) is not None


def came(texts: Iterable[str], open_calls: Sequence[str]) -> list[Came]:
    """Return the parts of a user message whose texts these are.

    *open_calls* are the names of the calls that wait for results: as many results are told apart.
    Without any, the first text may still be one, of a call that the record does not show.
    """
    text = "\n\n".join(texts)
    at = text.rfind(f"\n{_DETAILS}")
    at = 0 if at < 0 and text.startswith(_DETAILS) else at
    text, details = (text, "") if at < 0 else (text[:at], text[at:].strip())
    found = _results(text, open_calls)
    return [*found, Came("details", details)] if details else found


def _results(text: str, open_calls: Sequence[str]) -> list[Came]:
    headers = list(_HEADER.finditer(text))[: max(1, len(open_calls))]
    if headers and not open_calls and text[: headers[0].start()].strip():
        headers = []
    found: list[Came] = []
    if said := text[: headers[0].start() if headers else len(text)].strip():
        found.append(Came("user", said))
    for number, header in enumerate(headers):
        end = headers[number + 1].start() if number + 1 < len(headers) else len(text)
        body, said = _apart(text[header.start() : end])
        argument = _ARGUMENT.match(header[2])
        found.append(Came("result", body, header[1], argument[1] if argument else ""))
        if said:
            found.append(Came("user", said))
    return found


def _apart(body: str) -> tuple[str, str]:
    """Return a result without what the user says in it, and that."""
    said: list[str] = []
    for name in _SAID:
        begin, end = f"<{name}>", f"</{name}>"
        at = body.find(begin)
        to = body.find(end, at)
        if 0 <= at < to:
            said.append(body[at + len(begin) : to].strip())
            body = body[:at] + body[to + len(end) :]
    return body.strip(), "\n".join(said)


def failed(result: str) -> bool:
    """Whether a result with its header says that the tool failed."""
    header = _HEADER.match(result)
    return _FAILED.match(result, header.end() if header else 0) is not None
