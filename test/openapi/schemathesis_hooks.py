"""What no schema can say of a request that is to succeed, made true of the requests of schemathesis."""

import datetime
import itertools
import unicodedata
import uuid
from urllib.parse import quote, unquote

import schemathesis
from schemathesis.generation import GenerationMode

requests = itertools.count()


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
    # No pattern can say which days exist, nor which texts have a word.
    for field in ("opened_after", "closes_before"):
        if field in query:
            query[field] = existing(query[field])
    if "q" in query:
        query["q"] = " ".join(plain(query["q"]).split()[:20])
    # One call takes one forecast for a question.
    if isinstance(case.body, dict) and "forecasts" in case.body:
        case.body["forecasts"] = list({one["question_id"]: one for one in case.body["forecasts"]}.values())
    # No pattern can say which characters are assigned, and which are in NFC.
    if isinstance(case.body, dict):
        for field in ("name", "model_type", "organization_name"):
            if isinstance(case.body.get(field), str):
                case.body[field] = plain(case.body[field])
    # In a path it is escaped already.
    owner = (case.path_parameters or {}).get("owner_id")
    if owner is not None:
        case.path_parameters["owner_id"] = quote(plain(unquote(owner)), safe="")


def existing(instant):
    """The instant, or another one if it does not exist."""
    try:
        datetime.datetime.fromisoformat(instant)
        return instant
    except ValueError:
        return "2026-06-01T00:00:00Z"


def plain(name):
    """A name of the same length at most, of ASCII and letters alone."""
    composed = unicodedata.normalize("NFC", name)
    kept = "".join(c for c in composed if c.isascii() or unicodedata.category(c) in ("Ll", "Lu"))
    return kept if any(c.isalnum() for c in kept) else "a"
