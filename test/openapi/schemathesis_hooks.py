"""What no schema can say of a request that is to succeed, made true of the requests of schemathesis."""

import itertools
import uuid

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
