"""Reads trace files in formats of other programs: chats as OpenAI has them, session logs of Claude
Code, OTLP as JSON, and runs of LangSmith.

In: the objects of a file. Out: the objects of traces, or nothing if a file has another format.
What is not understood in a format that is known raises, with what was expected.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sponsio_like.errors import TraceError
from sponsio_like.traces.jsonl import Line, stamp_seconds

CLAUDE = ({"summary", "leafUuid"}, {"messageId", "snapshot"})
"""The fields of the lines of a session log of Claude Code that name no session."""
ROLES = {"human": "user", "ai": "assistant", "developer": "system"}


def format_of(value: Mapping[str, Any]) -> str | None:
    """Return the format of a file by its first object; None for one that is not known here."""
    if isinstance(value.get("messages"), list) and "events" not in value:
        return "chat"
    if isinstance(value.get("resourceSpans"), list):
        return "otlp"
    if "run_type" in value and ("inputs" in value or "outputs" in value):
        return "langsmith"
    if "type" in value and ("sessionId" in value or any(value.keys() >= each for each in CLAUDE)):
        return "claude code"
    return None


def traces_elsewhere(kind: str, lines: Iterable[Line]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the traces of a file in this format, each with its place. Raises `TraceError`."""
    match kind:
        case "chat":
            for where, value in lines:
                yield where, _chat(where, value)
        case "claude code":
            yield from _by_session(lines, _claude)
        case "otlp":
            yield from _by_start(_spans(lines))
        case _:
            yield from _by_start(_runs(lines))


# --- chats ----------------------------------------------------------------------------------------


def _chat(where: str, value: Mapping[str, Any]) -> dict[str, Any]:
    events: list[dict[str, Any]] = []
    for n, message in enumerate(value["messages"]):
        place = f"{where}: message {n}"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise TraceError(f'{place}: a message needs `role`, like {{"role": "user"}}')
        events += _message(place, message)
    name = value.get("id")
    return {"id": name if isinstance(name, str) else where, "events": events}


def _message(place: str, message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    role, text = ROLES.get(message["role"], message["role"]), _text(message.get("content"))
    if role == "tool":
        id = message.get("tool_call_id")
        if not isinstance(id, str):
            raise TraceError(f"{place}: a message of a tool needs `tool_call_id`")
        yield {"type": "result", "id": id, "output": text}
        return
    if text:
        yield {"type": "message", "role": role, "text": text}
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise TraceError(f"{place}: a tool call needs `function` with `name` and `arguments`")
        args = function.get("arguments")
        yield {"tool": function["name"], "args": args, "id": call.get("id")}


def _text(content: Any) -> str:
    """Return the text of a message: a text, or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    each = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in each if isinstance(text, str))


# --- Claude Code ----------------------------------------------------------------------------------


def _by_session(lines: Iterable[Line], read: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    found: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    for where, value in lines:
        session = value.get("sessionId")
        if isinstance(session, str) and value.get("type") in ("user", "assistant"):
            found.setdefault(session, (where, []))[1].extend(read(where, value))
    for session, (where, events) in found.items():
        yield where, {"id": session, "events": events}


def _claude(where: str, value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    message = value.get("message")
    if not isinstance(message, dict):
        raise TraceError(f"{where}: a line of type `{value['type']}` needs `message`")
    time = stamp_seconds(value.get("timestamp"))
    at = {} if time is None else {"time": time}
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
    for part in parts:
        match part:
            case {"type": "text", "text": str(text)}:
                yield {"type": "message", "role": value["type"], "text": text, **at}
            case {"type": "tool_use", "name": str(name), "input": dict(args)}:
                yield {"tool": name, "args": args, "id": part.get("id"), **at}
            case {"type": "tool_result", "tool_use_id": str(id)}:
                status = "error" if part.get("is_error") else "ok"
                output = _text(part.get("content"))
                yield {"type": "result", "id": id, "status": status, "output": output, **at}
            case {"type": "tool_use" | "tool_result" as kind}:
                raise TraceError(f"{where}: a `{kind}` that cannot be read: {str(part)[:80]}")


# --- spans ----------------------------------------------------------------------------------------


def _by_start(
    calls: Iterable[tuple[str, str, Any, dict[str, Any]]],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a trace for each id, with its calls in the order in which they started.

    Each call comes with the id of its trace, its place and its start.
    """
    found: dict[str, tuple[str, list[tuple[Any, dict[str, Any]]]]] = {}
    for trace, where, start, event in calls:
        found.setdefault(trace, (where, []))[1].append((start, event))
    for trace, (where, events) in found.items():
        yield where, {"id": trace, "events": [e for _, e in sorted(events, key=lambda p: p[0])]}


def _spans(lines: Iterable[Line]) -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    for where, value in lines:
        for resource in value.get("resourceSpans", ()):
            for scope in resource.get("scopeSpans", ()):
                for span in scope.get("spans", ()):
                    event = _span(where, span)
                    if event is not None:
                        started = int(span.get("startTimeUnixNano", 0))
                        yield str(span.get("traceId")), where, started, event


def _span(where: str, span: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the call that a span is; None for a span of something else."""
    has = {each.get("key"): each.get("value", {}) for each in span.get("attributes", ())}
    said = {key: next(iter(value.values()), None) for key, value in has.items()}
    if said.get("gen_ai.operation.name") != "execute_tool":
        return None
    tool = said.get("gen_ai.tool.name")
    if not isinstance(tool, str):
        raise TraceError(f"{where}: a span of `execute_tool` needs `gen_ai.tool.name`")
    failed = span.get("status", {}).get("code") in (2, "STATUS_CODE_ERROR")
    time = int(span.get("startTimeUnixNano", 0)) / 1e9
    event = {"tool": tool, "args": said.get("gen_ai.tool.call.arguments"), "time": time}
    output = said.get("gen_ai.tool.call.result")
    return {**event, "output": output, "status": "error" if failed else "ok"}


# --- runs -----------------------------------------------------------------------------------------


def _runs(lines: Iterable[Line]) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    for where, run in lines:
        if run.get("run_type") != "tool":
            continue
        name = run.get("name")
        if not isinstance(name, str):
            raise TraceError(f"{where}: a run of a tool needs `name`")
        start = str(run.get("start_time") or "")
        event: dict[str, Any] = {"tool": name, "args": _inputs(run.get("inputs"))}
        output, failed = _outputs(run.get("outputs"))
        failed = failed or bool(run.get("error"))
        event["output"] = run.get("error") or output
        event["status"] = "error" if failed else "ok"
        time = stamp_seconds(start)
        event |= {} if time is None else {"time": time}
        yield str(run.get("trace_id") or run.get("id")), where, start, event


def _inputs(inputs: Any) -> Any:
    """Return the arguments of a run: its inputs, or the text that they have as `input`."""
    if isinstance(inputs, dict) and list(inputs) == ["input"] and isinstance(inputs["input"], str):
        try:
            read = ast.literal_eval(inputs["input"])
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return inputs
        return read if isinstance(read, dict) else inputs
    return inputs


def _outputs(outputs: Any) -> tuple[Any, bool]:
    """Return the output of a run, and True if it is a message of LangChain about an error."""
    output = outputs
    if isinstance(outputs, dict) and list(outputs) == ["output"]:
        output = outputs["output"]
    if isinstance(output, dict) and output.get("type") == "tool" and "content" in output:
        return _text(output["content"]), output.get("status") == "error"
    return output, False
