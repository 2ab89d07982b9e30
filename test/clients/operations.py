"""What a client can do, one thing after another. It prints what each came to, as operations.js does."""

import itertools
import json
import os

from forecast_verification_client import Client, normalise

world = json.loads(os.environ["CLIENT_WORLD"])
agent, opened, other, unknown = world["agent"], world["open"], world["other"], world["unknown"]
told = []
ids = itertools.count(1)
client = Client(
    os.environ["CLIENT_URL"],
    vkeys=[os.environ["CLIENT_VKEY"]],
    new_id=lambda: f"an-id-that-is-long-enough-{next(ids)}",
    pause=lambda seconds: told.append({"pause": seconds}),
)


def tell(what, work):
    try:
        told.append({"what": what, "came": work()})
    except Exception as error:
        more = {name: getattr(error, name) for name in ("status", "type") if hasattr(error, name)}
        evidence = error.evidence._asdict() if hasattr(error, "evidence") else {}
        more |= {name: value for name, value in evidence.items() if value is not None}
        told.append({"what": what, "failed": type(error).__name__, "message": str(error), **more})


def said(question_id, probability):
    return {"question_id": question_id, "probability": probability}


tell("register", lambda: client.register("a bot", "example"))
tell("questions", lambda: list(client.questions(status="open", limit=1)))
tell("no question", lambda: list(client.questions(status="upcoming", q="nothing & “more”")))
first = [{**said(opened, 0.7), "rationale": "Because “é”."}, said(other, 0.2), said(unknown[0], 0.5)]
tell("submit", lambda: client.submit(first))
many = [said(each, 0.5) for each in unknown]
tell("submit many", lambda: client.submit(many, "a-key-of-the-caller-that-is-long-enough"))
tell("current", lambda: list(client.forecasts()))
tell("history", lambda: list(client.forecasts(history="true")))
tell("withdraw", lambda: client.withdraw(other))
tell("withdraw again", lambda: client.withdraw(other))
tell("submit what is wrong", lambda: client.submit([said(opened, 2)]))
tell("submit beside another", lambda: client.submit([said(opened, 0.6)]))
tell("submit too much", lambda: client.submit([said(opened, 0.5)]))
tell("own scores", lambda: list(client.scores()))
tell("scores of another", lambda: list(client.scores(agent, limit=26)))
for kind in ("verification", "metrics", "rankings", "advanced-metrics"):
    tell(kind, lambda: client.record(kind, agent))
tell("a record that was changed", lambda: client.record("verification", agent))
tell("a record without a proof", lambda: client.record("metrics", agent))
tell("a receipt that was changed", lambda: client.submit([said(opened, 0.4)]))
tell("feed", lambda: list(itertools.islice(client.feed(), 2)))
tell("event", lambda: client.submit_event("an event", {other: 0.25}, strict=True))
tell("another event", lambda: client.submit_event("no/event", {other: 0.25}))
options = {"a": 0.5, "b": 1, "c": 0.5}
for kind in ("exclusive", "at_most_one", "ordered", "independent"):
    tell(kind, lambda: normalise(options, kind))
tell("no option", lambda: normalise({"a": 0, "b": 0}, "exclusive"))
tell("no answer", lambda: list(client.questions()))
tell("a redirect", lambda: list(client.questions()))
tell("verifies", lambda: client.verifies)
print(json.dumps(told))
