# A bot: it finds open questions, submits a probability for all of them, reads back what stands, and reads its
# scores. It needs the client: pip install ./clients/python
# Run it with FVS_URL, FVS_AGENT_ID and FVS_API_KEY in the environment, and with LOG_VKEY to verify every receipt:
# python3 examples/bot.py
import os, sys

from forecast_verification_client import Client, NoAnswer, NotVerified, Refusal

vkeys = os.environ.get("LOG_VKEY", "")
client = Client(os.environ["FVS_URL"], os.environ["FVS_AGENT_ID"], vkeys, api_key=os.environ["FVS_API_KEY"])


def probability_of(question):
    """Put your own judgement here: 0.5 says nothing."""
    return 0.5


def plain(text):
    """The text of others must not steer a terminal."""
    return "".join(each if each.isprintable() else "?" for each in text or "")


try:
    questions = list(client.questions())
    forecasts = [{"question_id": each["question_id"], "probability": probability_of(each)} for each in questions]
    results = client.submit(forecasts)
    print(f"{sum(each['status'] == 'ok' for each in results)} of {len(forecasts)} forecasts taken")

    print(f"{len(list(client.forecasts()))} stand on questions that are open")

    # Above 0 is better than the others. Before the first release with this agent, the service says when that is due.
    for score in client.scores():
        print(f"{score['peer_score']:.1f} for {plain(score['title'])}")
except (Refusal, NoAnswer, NotVerified) as error:
    if getattr(error, "type", None) != "not-released-yet":
        sys.exit(str(error))
    print(error)
