"""What no schema can say of a request that is to succeed, made true of the requests of schemathesis."""

import datetime
import itertools
import os
import unicodedata
import uuid
from urllib.parse import quote, unquote

import schemathesis
from schemathesis.generation import GenerationMode

requests = itertools.count()


@schemathesis.deserializer("application/vc")
def credential(context, response):
    return response.json()


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    # A key that is used again for another request is refused, as it should be.
    headers = case.headers or {}
    if "Idempotency-Key" in headers:
        headers["Idempotency-Key"] = str(uuid.uuid5(uuid.NAMESPACE_OID, str(next(requests))))
    # So are days that are out of order.
    query = case.query or {}
    if "start_date" in query and "end_date" in query:
        query["start_date"], query["end_date"] = sorted([query["start_date"], query["end_date"]])
    # No pattern can say where the feed ends.
    if "after" in query:
        query["after"] = "end"
    # No pattern can say that a cursor is of the list that is asked for.
    if case.path.endswith("/forecasts") and "cursor" in query:
        query["cursor"], query["history"] = "0_0", "true"
    # No pattern can say which days exist, nor which texts have a word.
    for field in ("closes_before", "closes_after", "opened_after", "resolved_after", "updated_after"):
        if field in query:
            query[field] = existing(query[field])
    # Nor can one say which categories have a board.
    if "/leaderboard/" in case.path and "category" in query:
        query["category"] = "example"
    if "q" in query:
        query["q"] = " ".join(plain(query["q"]).split()[:20])
    if "name" in query:
        query["name"] = plain(query["name"])
    # No schema can say which questions an event has.
    if isinstance(case.body, dict) and "probabilities" in case.body:
        case.body["probabilities"] = {os.environ["QUESTION_ID"]: 0.5}
    # The texts of the operator's rows are checked as those of files are.
    if case.path.startswith("/operator/") and isinstance(case.body, dict):
        case.body = settled(case.body)
    # No pattern can say which characters are assigned, and which are in NFC.
    if isinstance(case.body, dict):
        for field in ("name", "model_type", "organization_name"):
            if isinstance(case.body.get(field), str):
                case.body[field] = plain(case.body[field])
    # No pattern can say which domains are registered.
    if isinstance(case.body, dict) and isinstance(case.body.get("domain"), str):
        case.body["domain"] = ".".join(case.body["domain"].split(".")[-2:-1]) + ".org"
    # In a path it is escaped already.
    owner = (case.path_parameters or {}).get("owner_id")
    if owner is not None:
        case.path_parameters["owner_id"] = quote(plain(unquote(owner)), safe="")


def settled(body):
    """The body of an operator's call, with rows that fit what is known."""
    body = {name: value for name, value in body.items() if name != "source"}
    if isinstance(body.get("reason"), str):
        body["reason"] = "a reason"
    if isinstance(body.get("owner_id"), str):
        body["owner_id"] = "an owner"
    if "yes" in body or "highest" in body:
        return {"yes": [os.environ["CHANGED_QUESTION_ID"]], "resolved_at": "2026-02-01T00:00:00Z"}
    for kind, subject in SUBJECTS.items():
        if kind in body:
            rows = [{**row, **FIXED[kind], **texts_of(row)} for row in body[kind]]
            body[kind] = list({row[subject]: row for row in rows}.values())
    return body


SUBJECTS = {
    "questions": "question_id",
    "events": "event_id",
    "resolutions": "question_id",
    "prices": "question_id",
    "forecasters": "user_id",
    "forecasts": "user_id",
}
OPENED, CLOSES = "2026-01-01T00:00:00Z", "2199-01-01T00:00:00Z"
FIXED = {
    "questions": {"opened_at": OPENED, "closes_at": CLOSES, "source": None, "source_id": None, "url": None},
    "resolutions": {
        "question_id": os.environ["CHANGED_QUESTION_ID"],
        "outcome": "yes",
        "resolved_at": "2026-02-01T00:00:00Z",
        "known_at": None,
    },
    "events": {"source": None, "source_id": None, "url": None},
    "prices": {
        "question_id": os.environ["CHANGED_QUESTION_ID"],
        "priced_at": "2026-01-15T12:00:00Z",
        "source": "a market",
    },
    "forecasters": {},
    "forecasts": {"question_id": os.environ["QUESTION_ID"], "forecast_at": "2026-02-01T00:00:00Z", "probability": 0.5},
}


def texts_of(row):
    names = ("title", "category", "event_id", "option", "display_name", "resolution_criteria", "background")
    texts = {name: row[name] for name in names if isinstance(row.get(name), str)}
    return {name: "".join(c for c in plain(text) if c.isalnum()) or "a" for name, text in texts.items()}


def existing(instant):
    """The instant, or another one if it does not exist."""
    try:
        datetime.datetime.fromisoformat(instant)
        return instant
    except ValueError:
        return "2026-06-01T00:00:00Z"


def plain(name):
    """A name of the same length at most, of printable ASCII and letters alone."""
    composed = unicodedata.normalize("NFC", name)
    kept = "".join(c for c in composed if " " <= c <= "~" or unicodedata.category(c) in ("Ll", "Lu"))
    return kept if any(c.isalnum() for c in kept) else "a"
