"""A client of the forecast verification service: finds questions, submits forecasts, and reads records."""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast
from urllib.parse import quote

from .api import (
    AcceptedForecast,
    AcknowledgedWithdrawal,
    AgentAdvancedMetrics,
    AgentMetrics,
    AgentRankings,
    AgentVerification,
    CurrentForecast,
    EventForecast,
    FeedPage,
    ForecastOrWithdrawal,
    ForecastResults,
    ListedQuestion,
    QuestionScore,
    RefusedForecast,
    Registered,
)
from .caller import Answer, Caller, NoAnswer, printable
from .errors import Evidence, NotVerified, Refusal
from .normalise import normalise

__all__ = ["Client", "Evidence", "NoAnswer", "NotVerified", "Refusal", "normalise"]

# The most forecasts that one call takes.
MOST_FORECASTS = 100
# An accepted forecast of an answer as it was sent, up to its receipt, and the receipt.
RECEIPTS = re.compile(r'(\{"agent_id":[^{}]*),"receipt":"([^"]+)"')

Kind = Literal["verification", "metrics", "rankings", "advanced-metrics"]
Result = AcceptedForecast | RefusedForecast
Record = AgentVerification | AgentMetrics | AgentRankings | AgentAdvancedMetrics


def text_of(body: bytes) -> str:
    return body.decode(errors="replace")


def keys_in(vkeys: str | Sequence[str], url: str) -> list[str]:
    """Raises ValueError for a text that is no key or is of the other environment, which is no fault of the service, and for
    keys of witnesses alone."""
    texts = [vkeys] if isinstance(vkeys, str) else vkeys
    keys = [key for text in texts for key in re.findall(r"[^\s,]+", text)]
    if not keys:
        return []
    from . import verify as verifier  # type: ignore[attr-defined]

    try:
        parts = {key: verifier.key_of(key) for key in keys}
    except (SystemExit, ValueError) as error:
        raise ValueError(printable(f"vkeys: {error}")) from error
    names = {key: name for key, (name, material, _) in parts.items() if material[0] == 1}
    if not names:
        raise ValueError("vkeys: a key of the log is needed beside those of witnesses")
    for key, name in names.items():
        if name.endswith("/sandbox") != url.endswith("/sandbox"):
            where = "in the sandbox, and only there, both names end in /sandbox"
            raise ValueError(printable(f"vkeys: {key} is not of the environment of {url}: {where}"))
    return keys


class Client:
    """With public keys of the service's log and of witnesses in `vkeys`, with commas or white space between, every record
    and receipt is verified; without any, nothing is. A text that is no key raises ValueError.

    `options` are those of `Caller`: `api_key`, and for tests `new_id`, `pause` and the limits.
    """

    def __init__(self, url: str, agent_id: str | None = None, vkeys: str | Sequence[str] = (), **options: Any) -> None:
        self._caller = Caller(url, **options)
        self._agent_id = agent_id
        self._vkeys = keys_in(vkeys, self._caller.url)

    @property
    def verifies(self) -> bool:
        """Whether every record and receipt is verified, which takes a key of the log."""
        return len(self._vkeys) > 0

    def register(self, name: str, model_type: str, idempotency_key: str | None = None, **more: str) -> Registered:
        """Registers an agent, and acts for it from then on. Keep the key: it is shown once."""
        body = {"name": name, "model_type": model_type, **more}
        answer = self._ok(self._caller.send("/agents/register", body=body, idempotency_key=idempotency_key))
        registered = cast(Registered, json.loads(answer.body))
        self._agent_id, self._caller.api_key = registered["agent_id"], registered["api_key"]
        return registered

    def questions(self, **query: Any) -> Iterator[ListedQuestion]:
        """Yields questions with their criteria, in the order in which they close: open ones unless `query` differs."""
        return self._all("/questions", "questions", {"include": "texts", **(query or {"status": "open"})})

    def submit(self, forecasts: Sequence[ForecastOrWithdrawal], idempotency_key: str | None = None) -> list[Result]:
        """Submits forecasts, a hundred in a call, and returns a result for each, in their order. A probability of None
        withdraws. The same forecasts with the same key take effect once, also after a crash.

        Raises Refusal if no forecast was taken, NotVerified for a receipt that does not hold.
        """
        results: list[Result] = []
        for start in range(0, len(forecasts), MOST_FORECASTS):
            key = f"{idempotency_key}-{start}" if idempotency_key and start else idempotency_key
            body = {"forecasts": list(forecasts[start : start + MOST_FORECASTS])}
            sent = self._caller.send(f"{self._own}/forecasts", body=body, own=True, idempotency_key=key)
            text = self._ok(sent).body.decode()
            taken = cast(ForecastResults, json.loads(text))
            self._verify_receipts(f"{self._own}/forecasts", taken, text)
            results += taken["results"]
        return results

    def submit_event(
        self,
        event_id: str,
        probabilities: Mapping[str, float],
        strict: bool = False,
        idempotency_key: str | None = None,
    ) -> EventForecast:
        """Submits a probability for each open question of an event, all or none. `coherence` in the answer tells where
        they cannot all be right; `strict` refuses such.

        Raises Refusal if they were not taken, NotVerified for a receipt that does not hold.
        """
        path = f"{self._own}/events/{quote(event_id, safe='')}/forecast"
        query = {"strict": "true"} if strict else None
        body = {"probabilities": dict(probabilities)}
        sent = self._caller.send(path, query, body=body, own=True, idempotency_key=idempotency_key)
        text = self._ok(sent).body.decode()
        taken = cast(EventForecast, json.loads(text))
        self._verify_receipts(path, taken, text)
        return taken

    def withdraw(self, question_id: str, idempotency_key: str | None = None) -> AcknowledgedWithdrawal:
        """Withdraws the current forecast on an open question."""
        path = f"{self._own}/forecasts/{quote(question_id, safe='')}"
        answer = self._ok(self._caller.send(path, method="DELETE", own=True, idempotency_key=idempotency_key))
        if self.verifies:
            self._verify_receipt(path, answer.body, answer.headers.get("X-Service-Receipt"))
        return cast(AcknowledgedWithdrawal, json.loads(answer.body))

    def forecasts(self, **query: Any) -> Iterator[CurrentForecast]:
        """Yields the current forecasts on open questions, or with history="true" all that the agent has said."""
        return self._all(f"{self._own}/forecasts", "forecasts", query, own=True)

    def scores(self, agent_id: str | None = None, **query: Any) -> Iterator[QuestionScore]:
        """Yields the scores of the agent, or of another one, on each question, the last settled first."""
        return self._all(f"{self._path(agent_id)}/scores", "scores", query)

    def record(self, kind: Kind, agent_id: str | None = None) -> Record:
        """Returns a record of the agent, or of another one, verified if there are keys.

        Raises Refusal before the first release with the agent, NotVerified if the record does not stand.
        """
        path = f"{self._path(agent_id)}/{kind}"
        body = self._ok(self._caller.send(path)).body
        record = cast(Record, json.loads(body))
        if self.verifies:
            release = record["release"]
            proof = self._ok(self._caller.send(f"{path}/proof", query={"release": release})).body
            evidence = Evidence(path, text_of(body), text_of(proof), release)
            self._verify(body, proof, evidence, (self._caller.url, "agents", agent_id or self._agent, kind))
        return record

    def feed(self, after: str = "end", every_s: float = 5) -> Iterator[FeedPage]:
        """Yields pages of what happened, from `after` on, without an end: begin with "end" for what happens from now
        on, and keep `next` of each page to go on there after a restart."""
        following = after
        while True:
            page = cast(FeedPage, json.loads(self._ok(self._caller.send("/feed", {"after": following})).body))
            if page["events"] or following == "end":
                yield page
            else:
                self._caller.pause(every_s)
            following = page["next"]

    @property
    def _agent(self) -> str:
        if self._agent_id is None:
            raise ValueError("no agent takes part: give agent_id, or register")
        return self._agent_id

    @property
    def _own(self) -> str:
        return self._path(None)

    def _path(self, agent_id: str | None) -> str:
        return f"/agents/{quote(agent_id or self._agent, safe='')}"

    def _all(self, path: str, items: str, query: Mapping[str, Any], own: bool = False) -> Iterator[Any]:
        cursor = None
        while True:
            page = json.loads(self._ok(self._caller.send(path, {**query, "cursor": cursor}, own=own)).body)
            yield from cast(Iterable[Any], page[items])
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _ok(self, answer: Answer) -> Answer:
        if 200 <= answer.status < 300:
            return answer
        try:
            problem = json.loads(answer.body)
            refusal = Refusal(answer.status, problem["type"], problem["detail"], problem.get("errors", ()))
        except (ValueError, KeyError, TypeError, AttributeError):
            redirect = 300 <= answer.status < 400
            said = "with a redirect, which is not followed" if redirect else f"{answer.status}, and did not say why"
            refusal = Refusal(answer.status, "about:blank", f"the service answered {said}")
        raise refusal

    def _verify_receipts(self, path: str, taken: ForecastResults | EventForecast, text: str) -> None:
        if not self.verifies:
            return
        receipts = RECEIPTS.findall(text)
        ok = sum(result["status"] == "ok" for result in taken["results"])
        if len(receipts) != ok:
            raise NotVerified(f"{ok} forecasts have {len(receipts)} receipts", Evidence(path, text))
        for body, receipt in receipts:
            self._verify_receipt(path, f"{body}}}".encode(), receipt)

    def _verify_receipt(self, path: str, body: bytes, receipt: str | None) -> None:
        evidence = Evidence(path, text_of(body), receipt)
        try:
            proof = base64.b64decode(receipt or "", validate=True)
        except ValueError as error:
            raise NotVerified("the receipt is not Base64", evidence) from error
        self._verify(body, proof, evidence)

    def _verify(
        self, body: bytes, proof: bytes, evidence: Evidence, asked: tuple[str, str, str, str] | None = None
    ) -> None:
        from . import verify as verifier  # type: ignore[attr-defined]

        # The verifier is also a program, which prints each thing that holds and exits with the first that does not.
        verifier.say = lambda _words: None
        try:
            verifier.verify_proof(body, proof.decode(), self._vkeys)
            if asked:
                verifier.assert_asked(json.loads(body), *asked)
        except (SystemExit, ValueError, KeyError, TypeError, IndexError) as error:
            raise NotVerified(str(error), evidence) from error
