"""Asks one question of a model behind an OpenAI-compatible endpoint.

In: an endpoint, the name of a model, messages. Out: the text of its answer. Every failure is a
`SponsioLikeError`. The key comes from the environment; it stands in no error and no answer.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from sponsio_like.errors import SponsioLikeError

if TYPE_CHECKING:
    import httpx

KEYS = ("SPONSIO_LIKE_API_KEY", "OPENAI_API_KEY")
"""The environment variables that may have the key; the first one that is set counts."""
ANSWER_BYTES = 1_000_000
"""The most bytes of an answer, as it is sent."""
TIMEOUT = 120.0
"""The seconds for the whole answer."""
SAID_CHARS = 200
"""The most characters that are shown of an endpoint's own words about a failure."""
HIDDEN = "***"
REFUSED = (401, 403)
TOO_MANY = 429


class Completion(NamedTuple):
    """The answer of a model. `cut` is True if the endpoint ended it before it was complete."""

    text: str
    cut: bool = False


class Key(NamedTuple):
    """A key, and the variable it is from; both empty if there is none."""

    value: str = ""
    variable: str = ""

    def hide(self, text: str) -> str:
        """Return the text without the key."""
        return text.replace(self.value, HIDDEN) if self.value else text


def ask(
    endpoint: str,
    model: str,
    messages: Sequence[Mapping[str, str]],
    *,
    timeout: float = TIMEOUT,
) -> Completion:
    """Return the model's answer.

    `endpoint` is what stands before `/chat/completions`. Raises `SponsioLikeError`.
    """
    address, host = _address(endpoint)
    key = _key()
    request = {"model": model, "messages": list(messages)}
    with _troubles(host, timeout):
        status, body = _post(address, request, key, timeout)
    if status is None:
        raise SponsioLikeError(f"{host}: the answer has more than {ANSWER_BYTES:,} bytes")
    if status != 200:
        raise SponsioLikeError(f"{host}: {_failure(status, body, key)}")
    return _answer(body, key, host)


def _key() -> Key:
    """Return the key of the environment. Raises `SponsioLikeError` for what cannot be sent."""
    for variable in KEYS:
        value = os.environ.get(variable, "").strip()
        if value and not (value.isascii() and value.isprintable() and " " not in value):
            raise SponsioLikeError(f"what {variable} has is no key: it has blanks or odd signs")
        if value:
            return Key(value, variable)
    return Key()


def _address(endpoint: str) -> tuple[str, str]:
    """Return the address to post to, and its host for messages: the rest may be a secret.

    Raises `SponsioLikeError` for what is no web address.
    """
    try:
        parts = urlsplit(endpoint)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise SponsioLikeError("the endpoint is no web address; write https://host/v1")
    path = parts.path.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")), host


# --- the network ----------------------------------------------------------------------------------


def _post(
    address: str, body: Mapping[str, Any], key: Key, timeout: float
) -> tuple[int | None, bytes]:
    """Return the status and the body of the answer; no status if the body is too long."""
    import httpx  # the network is only needed here

    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    if key.value:
        headers["Authorization"] = f"Bearer {key.value}"
    ends = time.monotonic() + timeout
    found = bytearray()
    with (
        httpx.Client(timeout=timeout) as client,
        client.stream("POST", address, content=json.dumps(body), headers=headers) as answer,
    ):
        for chunk in answer.iter_raw():
            found += chunk
            if len(found) > ANSWER_BYTES:
                return None, b""
            if time.monotonic() > ends:
                raise httpx.ReadTimeout("it goes on and on")
    return answer.status_code, bytes(found)


@contextmanager
def _troubles(host: str, timeout: float) -> Iterator[None]:
    """Raise `SponsioLikeError` for troubles of the network.

    The texts of httpx are left out: they may have headers in them.
    """
    import httpx

    try:
        yield
    except httpx.TimeoutException:
        what = f"no answer within {timeout:g} seconds; --timeout gives it more"
    except httpx.ConnectError as error:
        what = f"cannot be reached: {_reason(error)}; is --endpoint right, and the server running?"
    except httpx.TransportError as error:
        what = f"the connection failed: {type(error).__name__}"
    except (httpx.InvalidURL, ImportError, ValueError) as error:  # the address, or a proxy's
        what = f"cannot be asked: {type(error).__name__}; look at --endpoint and the proxy"
    else:
        return
    raise SponsioLikeError(f"{host}: {what}")


def _reason(error: httpx.ConnectError) -> str:
    """Return the cause in the words of the system: connection refused, no such name."""
    text = str(error).lower()
    return "connection refused" if "refused" in text else _plain(text) or "no connection"


# --- what came back -------------------------------------------------------------------------------


def _failure(status: int, body: bytes, key: Key) -> str:
    if status in REFUSED and not key.value:
        return f"refused without a key (status {status}); set {' or '.join(KEYS)}"
    if status in REFUSED:  # what it says may have a part of the key in it
        return f"refused the key of {key.variable} (status {status})"
    if status == TOO_MANY:
        return "too many requests, or no quota left (status 429); try again later"
    said = _said(body, key)
    hint = "; --endpoint is what stands before /chat/completions" if status == 404 else ""
    return f"answered with status {status}{f': {said}' if said else ''}{hint}"


def _said(body: bytes, key: Key) -> str:
    """Return the message of an error, where OpenAI puts it; empty if there is none."""
    match _json(body):
        case {"error": {"message": str(message)}} | {"error": str(message)}:
            return _plain(key.hide(message))
    return ""


def _plain(text: str) -> str:
    """Return a foreign text on one short line."""
    line = " ".join(text.split())
    return "".join(sign for sign in line if sign.isprintable())[:SAID_CHARS]


def _answer(body: bytes, key: Key, host: str) -> Completion:
    found = _json(body)
    if not isinstance(found, dict):
        raise SponsioLikeError(f"{host}: the answer is not JSON; --endpoint may be wrong")
    match found.get("choices"):
        case [{"message": {"content": str(text)}, **rest}, *_] if text.strip():
            whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return Completion(key.hide(whole), rest.get("finish_reason") == "length")
        case [_, *_]:
            raise SponsioLikeError(f"{host}: the answer has no text")
    raise SponsioLikeError(f"{host}: the answer has no choices")


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        return None
