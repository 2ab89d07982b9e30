# A feed: it mirrors a platform's SQLite database into the service every minute: questions, outcomes, people and
# their forecasts. A row that was sent before changes nothing, so it may start again from the beginning at any time.
# Run it with FVS_URL and FVS_OPERATOR_KEY in the environment: python3 examples/mirror.py platform.db [once]
import json, os, sqlite3, sys, time, uuid
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://platform.example/")
MOST_ROWS = 1000


class NoRedirect(HTTPRedirectHandler):
    """A redirect would take the key elsewhere."""

    def redirect_request(self, *_):
        return None


def id_of(kind):
    """The service's id of a row, which follows from the platform's own."""
    return lambda value: str(uuid.uuid5(NAMESPACE, f"{kind} {value}"))


# For each call, in this order: a query by the number of the last change that was sent, and the columns that are ids.
FEEDS = {
    "PUT questions": (
        "SELECT change, id AS question_id, title, category, opens AS opened_at, closes AS closes_at FROM questions",
        {"question_id": id_of("question")},
    ),
    "PUT forecasters": ("SELECT change, id AS user_id, name AS display_name FROM people", {"user_id": id_of("person")}),
    "PUT resolutions": (
        "SELECT change, question AS question_id, outcome, known_at AS resolved_at FROM outcomes",
        {"question_id": id_of("question")},
    ),
    "POST forecasts": (
        "SELECT change, person AS user_id, question AS question_id, probability, made_at AS forecast_at FROM forecasts",
        {"user_id": id_of("person"), "question_id": id_of("question")},
    ),
}


def send(call, rows):
    method, kind = call.split()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ['FVS_OPERATOR_KEY']}"}
    body = json.dumps({kind: rows}).encode()
    request = Request(f"{os.environ['FVS_URL']}/operator/{kind}", body, headers, method=method)
    with build_opener(NoRedirect).open(request, timeout=60) as answer:
        said = json.load(answer)
    print(f"{kind}: {said['added']} added, {said['changed']} changed, {said['unchanged']} known already")


sent = dict.fromkeys(FEEDS, 0)
while True:
    try:
        for call, (query, ids) in FEEDS.items():
            database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
            database.row_factory = sqlite3.Row
            while rows := database.execute(
                f"SELECT * FROM ({query}) WHERE change > ? ORDER BY change LIMIT {MOST_ROWS}", [sent[call]]
            ).fetchall():
                plain = [{key: ids.get(key, lambda v: v)(row[key]) for key in row.keys() if key != "change"} for row in rows]
                send(call, plain)
                sent[call] = rows[-1]["change"]
    except HTTPError as error:
        print(call, error.code, error.read().decode(), file=sys.stderr)
        if 400 <= error.code < 500 and error.code != 429:
            sys.exit(1)
    except OSError as error:
        print(call, error, file=sys.stderr)
    if sys.argv[2:] == ["once"]:
        break
    time.sleep(60)
