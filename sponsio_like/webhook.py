"""A notifier that posts each notice to a URL, as JSON, or as a message that Slack shows.

After a failure of the network or of the server it tries again, with a growing pause; then the
notice is lost, and the log says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from math import inf
from time import sleep
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sponsio_like.errors import ContractError
from sponsio_like.notices import Notice

PAUSE_SECONDS = 0.5
"""The pause before the second try; each further one is twice as long."""
BUSY = 429


class Failure(NamedTuple):
    """The failure of one try; `passing` is True if another try may succeed."""

    what: str
    passing: bool


@dataclass(frozen=True, slots=True)
class Webhook:
    """A notifier that posts to `url`, with `timeout` seconds a try, and `retries` tries more.

    With `slack`, it posts a message for an incoming webhook of Slack, or of a service that takes
    the same. Raises `ContractError` for what cannot work.
    """

    url: str = field(repr=False)
    timeout: float = 5.0
    retries: int = 2
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    slack: bool = False

    def __post_init__(self) -> None:
        for wrong in _mistakes(self.url, self.timeout, self.retries, self.headers):
            raise ContractError.of(*wrong)

    def __call__(self, notice: Notice) -> None:
        """Post the notice. Raises `ConnectionError` if no try succeeded.

        The error names the host alone: the path of a webhook is often its secret.
        """
        for left in range(self.retries, -1, -1):
            wrong = self._post(notice)
            if wrong is None:
                return
            if not left or not wrong.passing:
                host = urlsplit(self.url).hostname
                raise ConnectionError(f"the webhook at {host} failed: {wrong.what}")
            sleep(PAUSE_SECONDS * 2 ** (self.retries - left))

    def _post(self, notice: Notice) -> Failure | None:
        """Try once; return the failure, or None.

        It does not use the client of httpx, which would log the whole address.
        """
        import httpx  # the network is only needed here

        request = httpx.Request(
            "POST",
            self.url,
            content=json.dumps({"text": in_words(notice)} if self.slack else asdict(notice)),
            headers={"Content-Type": "application/json", **self.headers},
            extensions={"timeout": httpx.Timeout(self.timeout).as_dict()},
        )
        if request.url.userinfo:
            user = httpx.BasicAuth(request.url.username, request.url.password)
            request = next(user.auth_flow(request))
        try:
            with httpx.HTTPTransport(proxy=_proxy(self.url)) as transport:
                answer = transport.handle_request(request)
                answer.close()
        except httpx.TransportError as error:
            return Failure(type(error).__name__, passing=True)
        if answer.is_success:
            return None
        passing = answer.is_server_error or answer.status_code == BUSY
        return Failure(f"status {answer.status_code}", passing=passing)


def in_words(notice: Notice) -> str:
    """Return a notice as a message, in which Slack reads no mark-up but ours."""
    what = f"`{_plain(notice.tool)}`" if notice.tool else "a response"
    lines = [f"*{_plain(notice.action)}*: {what} by `{_plain(notice.contract)}`"]
    lines[0] += f" ({notice.times} times)" if notice.times > 1 else ""
    lines.append(_plain(notice.because or notice.message))
    about = {"session": notice.session, "owner": notice.owner, "severity": notice.severity}
    lines.append(", ".join(f"{key} {_plain(text)}" for key, text in about.items() if text))
    if notice.ticket:
        who = f" by {_plain(', '.join(notice.roles))}" if notice.roles else ""
        lines.append(f"ticket `{_plain(notice.ticket)}` is to be answered{who}")
    if notice.skipped:
        lines.append(f"{notice.skipped} other notices were left out before this one")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return a text on one line, without what Slack reads as mark-up."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return " ".join(text.replace("`", "'").split())


def _mistakes(url: Any, timeout: Any, retries: Any, headers: Any) -> Iterator[tuple[str, str]]:
    """Yield what cannot work, and what to write instead."""
    if not isinstance(url, str) or not _is_address(url):
        yield f"the address of the webhook{_at(url)} is no web address", "write https://.."
    if not isinstance(timeout, int | float) or isinstance(timeout, bool) or not 0 < timeout < inf:
        yield f"timeout `{timeout}` is no number of seconds above 0", ""
    if not isinstance(retries, int) or isinstance(retries, bool) or retries < 0:
        yield f"retries `{retries}` is no whole number from 0", ""
    texts = [text for pair in headers.items() for text in pair] if _is_map(headers) else [None]
    if not all(isinstance(text, str) and text.isascii() and text.isprintable() for text in texts):
        yield "the headers are no map of texts", "write {Authorization: ..}"


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping)


def _at(url: Any) -> str:
    """Return the host of an address in words, if it has one. The rest is often a secret."""
    try:
        host = urlsplit(url).hostname if isinstance(url, str) else None
    except ValueError:
        host = None
    return f" at `{host}`" if host else ""


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _proxy(url: str) -> str | None:
    """Return the proxy that the environment names for this address; None if there is none."""
    from urllib.request import getproxies, proxy_bypass  # loads all of `http`, so only here

    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
