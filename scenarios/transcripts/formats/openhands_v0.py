"""OpenHands events of version 0: actions and observations, each with its arguments or extras.

An action with ``tool_call_metadata`` is a tool call of the model: its ``model_response`` holds what
the model said and what the call used. Without it, in older records, the model wrote the action into
its text, and a result came back as text. Some keep arguments and extras beside ``action``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.content import (
    arguments_of,
    compact,
    leaves,
    text_and_images,
    tokens_of,
    whole,
)
from scenarios.transcripts.events import (
    Compaction,
    ContextWindow,
    Event,
    Message,
    ToolCall,
    ToolResult,
    Usage,
)
from scenarios.transcripts.findings import Findings, counted, shown
from scenarios.transcripts.formats.openai import usage
from scenarios.transcripts.models import model_of
from sim.segments import Kind

__all__ = ["Place", "is_event", "read", "threads"]

Place = tuple[int, dict[str, Any]]
"""The number of an event in its history, and the event."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BOOKS = _names("""
    agent_state_changed change_agent_state condensation_request initialize loop_recovery null
    pause recall resume server_ready start stop
""")
_TEXTS = {"run": "command", "run_ipython": "code", "browse_interactive": "browser_actions"}
"""Actions whose one argument is what the model wrote into its text."""
_SILENT = _names("""
    action action_risk blocking confirmation_state cwd hidden id include_extra is_confirmed
    is_input is_static impl_source keep_prompt kernel_init_code message return_axtree
    security_risk source thought timeout timestamp translated_ipython_code
""")
"""Arguments that the harness adds; the thought is text of its own."""
_RECALLED = (
    "repo_instructions",
    "additional_agent_instructions",
    "custom_secrets_descriptions",
    "conversation_instructions",
    "runtime_hosts",
    "date",
    "microagent_knowledge",
)
_CUT = "\n[... Observation truncated due to length ...]\n"
_WRAPPERS = frozenset({"name", "trigger"})


def is_event(value: Any) -> bool:
    """Whether a JSON value is an action or an observation."""
    if not isinstance(value, dict) or not {"response", "role"}.isdisjoint(value):
        return False
    return isinstance(value.get("action"), str) != isinstance(value.get("observation"), str)


def threads(events: list[Place]) -> Iterator[tuple[str, list[Place]]]:
    """Yield the events of the session, then those of each agent that it delegated to, by name."""
    found: list[list[Place]] = [[]]
    under = [found[0]]
    for place, event in events:
        if event.get("observation") == "delegate" and len(under) > 1:
            under.pop()
        under[-1].append((place, event))
        if event.get("action") == "delegate":
            found.append([])
            under.append(found[-1])
    for number, each in enumerate(found):
        if each or not number:
            yield f"agent-{number}" if number else "", each


def read(
    events: list[Place], findings: Findings, run: Mapping[str, Any], whole_session: bool = True
) -> Iterator[Event]:
    """Yield what one thread of events holds.

    The ``metrics`` of the *run* stand in where an event names no usage, and in a *whole_session*
    its ``instruction`` for a user's message, where there is none. Results are cut to its model's
    ``max_message_chars``.
    """
    heard = any(e.get("action") == "message" and _speaker(e, "user") == "user" for _, e in events)
    instruction = run.get("instruction")
    if whole_session and not heard and isinstance(instruction, str):
        yield Message(0, None, Kind.USER, instruction)
    reader = _Reader(events, findings, _usages(run.get("metrics")), _limit(run.get("metadata")))
    for place, event in events:
        yield from reader.take(place, event)
    reader.notes()


def _usages(metrics: Any) -> dict[str, dict[str, Any]]:
    """Return the run's usages by the id of the response."""
    rows = metrics.get("token_usages") if isinstance(metrics, dict) else None
    return {
        row["response_id"]: row
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and isinstance(row.get("response_id"), str)
    }


def _limit(metadata: Any) -> int | None:
    """Return the characters to which a result is cut, None if to none."""
    config = metadata.get("llm_config") if isinstance(metadata, dict) else None
    return whole(config.get("max_message_chars")) if isinstance(config, dict) else None


def _cut(text: str, limit: int | None) -> str:
    """Return *text* as the harness cuts it: head and tail of half the characters each."""
    if limit is None or len(text) <= limit:
        return text
    half = limit // 2
    return text[:half] + _CUT + text[len(text) - half :]


def _speaker(event: Mapping[str, Any], default: str) -> str:
    source = event.get("source")
    return source if isinstance(source, str) else default


def _part(event: dict[str, Any], key: str) -> dict[str, Any]:
    """Return the arguments or extras of an event, which may stand in the event itself."""
    part = event.get(key)
    return part if isinstance(part, dict) else event


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


class _Reader:
    """Reads one thread, event by event."""

    def __init__(
        self,
        events: list[Place],
        findings: Findings,
        usages: dict[str, dict[str, Any]],
        limit: int | None,
    ) -> None:
        self._findings = findings
        self._limit = limit
        self._usages = usages
        self._places = {
            e["id"]: place for place, e in reversed(events) if whole(e.get("id")) is not None
        }
        answers = [p for p, e in events if e.get("observation") not in (None, *_BOOKS)]
        self._answered = max(answers, default=-1)
        """Where the last result stands: a call behind it can have none."""
        self._open: dict[str, None] = {}
        self._by_event: dict[Hashable, str] = {}
        self._responses: set[str] = set()
        self._spoke = "agent"
        self._prompt: int | None = None
        self._left: Counter[str] = Counter()
        self._unnamed = 0

    def take(self, place: int, event: dict[str, Any]) -> Iterator[Event]:
        """Yield the events of one action or observation."""
        time = stamp(event, ("timestamp",), place, self._findings)
        action, observation = event.get("action"), event.get("observation")
        if isinstance(observation, str):
            yield from self._observed(observation, event, place, time)
        elif not isinstance(action, str):
            self._findings.breaks("an event that is neither action nor observation", place)
        elif action in _BOOKS:
            self._left[action] += 1
        elif action == "system":
            yield from self._system(_part(event, "args"), place, time)
        elif action == "condensation":
            yield from self._condensed(_part(event, "args"), place, time)
        elif action == "message":
            yield from self._message(event, place, time)
        elif _speaker(event, "agent") == "agent":
            yield from self._acted(action, event, place, time)
        else:
            args = _part(event, "args")
            text = _text(args.get(_TEXTS.get(action, ""))) or compact(_own(args))
            yield Message(place, time, Kind.USER, text)

    # -- what comes in ---------------------------------------------------------------------

    def _system(self, args: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        if args.get("tools"):
            yield Message(place, time, Kind.TOOLS, compact(args["tools"]))
        if text := _text(args.get("content")):
            yield Message(place, time, Kind.SYSTEM, text)

    def _message(self, event: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        args = _part(event, "args")
        speaker = _speaker(event, "user" if self._spoke == "agent" and not self._open else "agent")
        text, images = text_and_images(args.get("content"), place, self._findings)
        urls = args.get("image_urls") or args.get("images_urls")
        images += len(urls) if isinstance(urls, list) else 0
        if speaker == "agent":
            self._spoke = "agent"
            yield from self._answer(event, place, time, text)
        else:
            self._spoke = "user"
            yield Message(place, time, Kind.USER, text, images, injected=speaker != "user")

    def _observed(
        self, kind: str, event: dict[str, Any], place: int, time: float | None
    ) -> Iterator[Event]:
        extras = _part(event, "extras")
        if kind == "recall":
            if text := _recalled(extras):
                yield Message(place, time, Kind.USER, text, injected=True)
            return
        if kind in _BOOKS:
            self._left[kind] += 1
            return
        if kind == "agent_condensation":
            yield Compaction(place, time, "auto", before=self._prompt)
            yield Message(place, time, Kind.USER, _text(event.get("content")), summary=True)
            return
        text, images = _seen(kind, event, extras)
        text = _cut(text, self._limit)
        identity = self._call_of(event)
        if identity is None:
            self._unnamed += 1
            yield Message(place, time, Kind.USER, text, images, injected=True)
            return
        self._open.pop(identity, None)
        failed = kind in ("error", "user_rejected")
        yield ToolResult(place, time, identity, text, images, failed)

    def _call_of(self, event: dict[str, Any]) -> str | None:
        """Return the id of the call that an observation answers."""
        data = event.get("tool_call_metadata")
        if isinstance(data, dict) and isinstance(identity := data.get("tool_call_id"), str):
            return identity
        cause = event.get("cause")
        if isinstance(cause, int | str):
            return self._by_event.get(cause)
        return next(iter(self._open), None) if cause is None and "id" not in event else None

    def _condensed(self, args: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        summary = _text(args.get("summary"))
        kept = self._kept(args)
        yield Compaction(place, time, "auto", None if summary else 0, self._prompt, kept)
        if summary:
            yield Message(place, time, Kind.USER, summary, injected=True, summary=True)

    def _kept(self, args: dict[str, Any]) -> int | None:
        """Return the place of the first event behind those that were forgotten, if it says."""
        ids = (whole(identity) for identity in _list(args.get("forgotten_event_ids")))
        last = max((i for i in ids if i is not None), default=None)
        if last is None:
            last = whole(args.get("forgotten_events_end_id"))
        if last is None:
            return None
        return min((place for id_, place in self._places.items() if id_ > last), default=None)

    # -- what the model writes -------------------------------------------------------------

    def _answer(
        self, event: dict[str, Any], place: int, time: float | None, text: str
    ) -> Iterator[Event]:
        """Yield a message of the model that calls no tool."""
        response = _response(event)
        call = self._named(response, event, place)
        yield from model_of(response, place, time)
        yield from self._thought(response, place, time, call)
        yield Message(place, time, Kind.ASSISTANT, text, 0, call)
        yield from self._used(response, place, time, call)

    def _acted(
        self, action: str, event: dict[str, Any], place: int, time: float | None
    ) -> Iterator[Event]:
        args = _part(event, "args")
        response = _response(event)
        call = self._named(response, event, place)
        first = call not in self._responses
        self._responses.add(call)
        data = event.get("tool_call_metadata")
        data = data if isinstance(data, dict) else {}
        identity, name = data.get("tool_call_id"), data.get("function_name")
        if first:
            yield from model_of(response, place, time)
            yield from self._thought(response, place, time, call)
        said = _message_of(response).get("content")
        text, _ = text_and_images(said, place, self._findings)
        if not text and not response and action != "think":
            text = _text(args.get("thought"))
        if action in ("finish", "reject"):
            final = _final(response, args, identity, place, self._findings)
            texts = [text, *map(str, leaves(final))]
            text = "\n".join(t for n, t in enumerate(texts) if t and t not in texts[:n])
            yield Message(place, time, Kind.ASSISTANT, text, 0, call)
        else:
            if first or not response:
                yield Message(place, time, Kind.ASSISTANT, text, 0, call)
            if not isinstance(identity, str):
                identity, name = f"event {place}", action
            arguments = _arguments(response, identity, place, self._findings)
            if arguments is None:
                arguments = _written(action, args)
            self._by_event[_key(event, place)] = identity
            self._open[identity] = None
            name = name if isinstance(name, str) else action
            last = place > self._answered
            yield ToolCall(place, time, identity, name, arguments, call, last, as_text=not response)
        if first:
            yield from self._used(response, place, time, call)

    def _named(self, response: dict[str, Any], event: dict[str, Any], place: int) -> str:
        identity = response.get("id")
        return identity if isinstance(identity, str) and identity else f"event {place}"

    def _thought(
        self, response: dict[str, Any], place: int, time: float | None, call: str
    ) -> Iterator[Event]:
        message = _message_of(response)
        thought = message.get("reasoning_content")
        if not isinstance(thought, str):
            blocks = _list(message.get("thinking_blocks"))
            found = (block.get("thinking") for block in blocks if isinstance(block, dict))
            thought = "\n".join(text for text in found if isinstance(text, str))
        if isinstance(thought, str) and thought:
            yield Message(place, time, Kind.THINKING, thought, 0, call)

    def _used(
        self, response: dict[str, Any], place: int, time: float | None, call: str
    ) -> Iterator[Event]:
        row = self._usages.get(call, {})
        if isinstance(response.get("usage"), dict):
            used = usage(response["usage"], place, time, call, self._findings)
        elif row:
            keys = ("prompt", "cache_read", "cache_write", "completion")
            tokens = (tokens_of(row, f"{key}_tokens", place, self._findings) for key in keys)
            used = Usage(place, time, call, *tokens)
        else:
            return
        self._prompt = used.input_tokens or self._prompt
        if window := whole(row.get("context_window")):
            yield ContextWindow(place, time, window)
        yield used

    def notes(self) -> None:
        """Say what the thread holds that is no part of a prompt, or not where it was written."""
        if self._left:
            books = ", ".join(f"{n} {shown(kind)[1:-1]}" for kind, n in sorted(self._left.items()))
            self._findings.note(f"events that are no part of a prompt: {books}")
        if self._unnamed:
            count = counted(self._unnamed, "observation", "observations")
            self._findings.note(f"{count} of no recorded call, taken as messages of the harness")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _key(event: dict[str, Any], place: int) -> Hashable:
    identity = event.get("id")
    return identity if isinstance(identity, int | str) else f"place {place}"


def _response(event: dict[str, Any]) -> dict[str, Any]:
    data = event.get("tool_call_metadata")
    response = data.get("model_response") if isinstance(data, dict) else None
    return response if isinstance(response, dict) else {}


def _message_of(response: dict[str, Any]) -> dict[str, Any]:
    choices = response.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, dict) else {}


def _arguments(response: dict[str, Any], identity: Any, place: int, findings: Findings) -> Any:
    """Return the arguments of the call *identity* in what the model wrote, None if not there."""
    calls = _message_of(response).get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and call.get("id") == identity:
            called = call.get("function")
            arguments = called.get("arguments") if isinstance(called, dict) else None
            return arguments_of(arguments, place, findings)
    return None


def _own(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return those arguments that the model wrote."""
    return {k: v for k, v in args.items() if k not in _SILENT and v not in (None, "")}


def _written(action: str, args: dict[str, Any]) -> Any:
    """Return the arguments of an action that the model wrote into its text."""
    if isinstance(text := args.get(_TEXTS.get(action, "")), str):
        return text
    if action == "think":
        return {"thought": _text(args.get("thought"))}
    return _own(args)


def _final(
    response: dict[str, Any], args: dict[str, Any], identity: Any, place: int, findings: Findings
) -> Any:
    """Return what the model says at its end."""
    arguments = _arguments(response, identity, place, findings)
    if arguments is not None:
        return arguments
    return [args.get(key) for key in ("final_thought", "outputs") if args.get(key)]


def _seen(kind: str, event: dict[str, Any], extras: dict[str, Any]) -> tuple[str, int]:
    """Return an observation as the model was shown it, and the number of its images."""
    text = _text(event.get("content"))
    shown_as = extras.get("formatted_output_and_error")
    if isinstance(shown_as, str) and shown_as:
        text = shown_as
    metadata = extras.get("metadata")
    if kind == "run" and isinstance(metadata, dict):
        text = _text(metadata.get("prefix")) + text + _text(metadata.get("suffix"))
        for key, words in (
            ("working_dir", "Current working directory: "),
            ("py_interpreter_path", "Python interpreter: "),
        ):
            if value := _text(metadata.get(key)):
                text += f"\n[{words}{value}]"
        code = metadata.get("exit_code")
        if isinstance(code, int) and code != -1:
            text += f"\n[Command finished with exit code {code}]"
    elif kind == "delegate" and not text:
        text = compact(extras.get("outputs"))
    elif kind == "error":
        text += "\n[Error occurred in processing last action]"
    images = extras.get("image_urls")
    return text, len(images) if isinstance(images, list) else 0


def _recalled(extras: dict[str, Any]) -> str:
    """Return what a recall gives the model, without the words that the harness puts around it."""
    texts = []
    for key in _RECALLED:
        value = extras.get(key)
        entries = value if isinstance(value, list) else [value]
        for entry in entries:
            if isinstance(entry, dict) and key == "microagent_knowledge":
                entry = {k: v for k, v in entry.items() if k not in _WRAPPERS}
                texts += [each for each in leaves(entry) if isinstance(each, str)]
            elif isinstance(entry, dict) and entry:
                texts += [str(each) for each in entry]
            elif isinstance(entry, str) and entry:
                texts.append(entry)
    return "\n".join(texts)
