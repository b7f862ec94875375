"""A notifier that posts each notice, as JSON, to a URL.

A failure of the network or of the server is tried again, with a growing pause; then the notice is
lost, and the log says so.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from sponsio_like.errors import ContractError
from sponsio_like.notices import Notice

PAUSE_SECONDS = 0.5
"""The pause before the second try; each further one is twice as long."""
BUSY = 429


class Failure(NamedTuple):
    """What went wrong with one try; `passing`: another may go well."""

    what: str
    passing: bool


@dataclass(frozen=True, slots=True)
class Webhook:
    """Posts to `url`, waiting at most `timeout` seconds, and tries `retries` times again."""

    url: str
    timeout: float = 5.0
    retries: int = 2
    headers: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ContractError.of(f"`{self.url}` is no web address", "write https://..")
        if self.timeout <= 0 or self.retries < 0:
            raise ContractError.of("a webhook needs a timeout above 0, and retries from 0")

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
            time.sleep(PAUSE_SECONDS * 2 ** (self.retries - left))

    def _post(self, notice: Notice) -> Failure | None:
        import httpx  # the network is only needed here

        data, headers = asdict(notice), dict(self.headers or {})
        try:
            answer = httpx.post(self.url, json=data, timeout=self.timeout, headers=headers)
        except httpx.TransportError as error:
            return Failure(type(error).__name__, passing=True)
        if answer.is_success:
            return None
        passing = answer.is_server_error or answer.status_code == BUSY
        return Failure(f"status {answer.status_code}", passing=passing)
