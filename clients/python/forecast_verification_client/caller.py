"""Makes requests of the service: each within limits, and again, unchanged, where the service asks for that."""

import json
import time
import uuid
from collections.abc import Callable, Mapping
from email.message import Message
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

MOST_BYTES = 4 * 1024 * 1024
# The wait after a request without an answer.
WAIT_S = 1.0


class NoAnswer(Exception):
    """No whole answer came."""


class NoRedirect(HTTPRedirectHandler):
    """A redirect would take the key elsewhere."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str] | Message
    body: bytes


def printable(text: str) -> str:
    """The text of others must not steer a terminal."""
    return "".join(each if each.isprintable() else "?" for each in text)


class Caller:
    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
        pause: Callable[[float], object] = time.sleep,
        timeout_s: float = 10,
        repetitions: int = 4,
        longest_wait_s: float = 60,
    ) -> None:
        self.url = url.rstrip("/")
        self.api_key = api_key
        self.pause = pause
        self._new_id, self._timeout_s = new_id, timeout_s
        self._repetitions, self._longest_wait_s = repetitions, longest_wait_s
        self._opener = build_opener(NoRedirect)

    def send(
        self,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        method: str | None = None,
        own: bool = False,
        idempotency_key: str | None = None,
    ) -> Answer:
        """Sends a request until there is an answer that does not say when to repeat it, and returns the last one, of
        whatever status. The Idempotency-Key lets the request take effect once.

        Raises NoAnswer if none came in time, or if it is too long.
        """
        method = method or ("GET" if body is None else "POST")
        headers = {}
        if own and self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        if method != "GET":
            headers["Idempotency-Key"] = idempotency_key or self._new_id()
        search = urlencode({name: value for name, value in (query or {}).items() if value is not None})
        data = None if body is None else json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
        address = f"{self.url}{path}{'?' if search else ''}{search}"
        for left in range(self._repetitions, -1, -1):
            lost = None
            try:
                answer = self._once(Request(address, data, headers, method=method))
                wait_s = seconds(answer.headers.get("Retry-After"))
                if answer.status < 400 or left == 0 or wait_s > self._longest_wait_s:
                    return answer
            except (OSError, HTTPException) as error:
                lost, wait_s = error, WAIT_S
            if left == 0:
                raise NoAnswer(f"{self.url} cannot be reached, or broke the connection") from lost
            self.pause(wait_s)
        raise AssertionError("the last repetition returns or raises")

    def _once(self, request: Request) -> Answer:
        deadline = time.monotonic() + self._timeout_s
        try:
            answer = self._opener.open(request, timeout=self._timeout_s)
        except HTTPError as error:
            answer = error
        with answer:
            chunks: list[bytes] = []
            while chunk := answer.read1(65_536):
                chunks.append(chunk)
                if sum(map(len, chunks)) > MOST_BYTES:
                    raise NoAnswer(f"{self.url} answers with more than {MOST_BYTES} bytes")
                if time.monotonic() > deadline:
                    raise TimeoutError("the answer takes too long")
            if (answer.length or 0) > 0:
                raise HTTPException("the answer is cut off")
            return Answer(answer.status, answer.headers, b"".join(chunks))


def seconds(text: str | None) -> float:
    try:
        return float(text or "inf")
    except ValueError:
        return float("inf")
