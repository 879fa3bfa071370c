"""What Claude Code attaches to a conversation: records of type ``attachment`` in a session.

Of some kinds the record holds the text that the prompt held, but for the words that the harness
puts around it: the listing of skills, the instructions of a folder (``nested_memory``) and of MCP
servers, what a hook adds, a file that the user named, the lines of a file that somebody else
edited, and a message that the user sent while a tool was running. Of most it holds figures, from
which the harness makes up a reminder. Kinds that it keeps for itself are in no prompt.

Source: the fields as public readers of such sessions describe them; there is no specification.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Attached", "attached", "is_kept_back"]

_KEYS = {
    "edited_text_file": ("snippet",),
    "file": ("content", "file", "content"),
    "hook_additional_context": ("content",),
    "hook_blocking_error": ("blockingError", "blockingError"),
    "hook_success": ("content",),
    "mcp_instructions_delta": ("addedBlocks",),
    "nested_memory": ("content", "content"),
    "queued_command": ("prompt",),
    "skill_listing": ("content",),
}
"""Where an attachment of a kind has its text."""
_KEPT_BACK = frozenset(
    {
        "already_read_file",
        "command_permissions",
        "edited_image_file",
        "hook_cancelled",
        "hook_error_during_execution",
        "hook_non_blocking_error",
        "hook_permission_decision",
        "hook_system_message",
        "structured_output",
    }
)
_HEARD = ("SessionStart", "UserPromptSubmit")
"""Events whose hooks speak to the model when they succeed; others only end."""


@dataclass(frozen=True, slots=True)
class Attached:
    """The *content* of a message, text or blocks; *injected* unless the user wrote it.

    *edited* is the file that somebody else edited, if that is what it tells.
    """

    content: str | list[Any]
    injected: bool
    edited: str | None = None


def attached(data: dict[str, Any]) -> Attached | None:
    """Return the message that an attachment puts into the prompt, None if it does not hold it."""
    kind = str(data.get("type"))
    found: Any = data
    for key in _KEYS.get(kind, ("",)):
        found = found.get(key) if isinstance(found, dict) else None
    users = kind == "queued_command" and data.get("commandMode", "prompt") == "prompt"
    if isinstance(found, list) and kind != "queued_command":
        found = "\n".join(found) if all(isinstance(text, str) for text in found) else None
    if not isinstance(found, str | list):
        return None
    name = data.get("filename") if kind == "edited_text_file" else None
    return Attached(found, not users, name if isinstance(name, str) and name.strip() else None)


def is_kept_back(data: dict[str, Any]) -> bool:
    """Whether an attachment is of a kind that is part of no prompt."""
    if data.get("type") == "hook_success":
        return data.get("hookEvent") not in _HEARD
    return data.get("type") in _KEPT_BACK
