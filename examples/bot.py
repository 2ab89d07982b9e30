# A bot: it finds open questions, reads each in full, submits a probability for all of them in one call, reads
# back what stands, and reads its scores.
# Run it with FVS_URL, FVS_AGENT_ID and FVS_API_KEY in the environment: python3 examples/bot.py
import json, os, sys, time, uuid
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

BEARER = f"Bearer {os.environ['FVS_API_KEY']}"
MOST_BYTES = 4 * 1024 * 1024


class NoRedirect(HTTPRedirectHandler):
    """A redirect would take the key elsewhere."""

    def redirect_request(self, *_):
        return None


def plain(text):
    """The text of others must not steer a terminal."""
    return "".join(each if each.isprintable() else "?" for each in text)


def probability_of(question):
    """Put your own judgement here: 0.5 says nothing."""
    return 0.5


def call(path, body=None, left=3, key=None):
    """Sends a request, and the same one again if there is no answer or the answer says when to repeat it."""
    # However often the request is sent with this key, it takes effect once.
    key = key or str(uuid.uuid4())
    headers = {"Content-Type": "application/json", "Idempotency-Key": key, "Authorization": BEARER}
    request = Request(os.environ["FVS_URL"] + path, body and json.dumps(body).encode(), headers)
    try:
        with build_opener(NoRedirect).open(request, timeout=10) as answer:
            return json.loads(answer.read(MOST_BYTES))
    except HTTPError as error:
        wait, reason = float(error.headers.get("Retry-After", "inf")), error.read(MOST_BYTES).decode()
    except (OSError, HTTPException) as error:
        wait, reason = 1, str(error)
    if left == 0 or wait > 60:
        sys.exit(plain(reason))
    time.sleep(wait)
    return call(path, body, left - 1, key)


own = f"/agents/{os.environ['FVS_AGENT_ID']}"
questions = call("/questions?status=open&limit=100")["questions"]
full = [call(f"/questions/{each['question_id']}") for each in questions]
forecasts = [{"question_id": each["question_id"], "probability": probability_of(each)} for each in full]
results = call(f"{own}/forecasts", {"forecasts": forecasts})["results"] if forecasts else []
print(f"{sum(each['status'] == 'ok' for each in results)} of {len(forecasts)} forecasts taken")

print(f"{len(call(f'{own}/forecasts')['forecasts'])} stand on questions that are open")

# Above 0 is better than the others. Before the first release with this agent, the service says when that is due.
try:
    for score in call(f"{own}/scores")["scores"]:
        print(f"{score['peer_score']:.1f} for {plain(score['title'])}")
except SystemExit as reason:
    print(reason)
