"""A bot over the client that openapi-python-client generates: `python bot.py URL`. Prints what became of its forecasts."""

import json
import sys
import uuid

from generated import AuthenticatedClient, Client
from generated.api.agents import register_agent, submit_forecasts
from generated.api.questions import list_questions
from generated.api.records import get_agent_profile
from generated.models.accepted_forecast import AcceptedForecast
from generated.models.forecast_or_withdrawal import ForecastOrWithdrawal
from generated.models.forecast_submissions import ForecastSubmissions
from generated.models.list_questions_status import ListQuestionsStatus
from generated.models.problem import Problem
from generated.models.question_page import QuestionPage
from generated.models.forecast_results import ForecastResults
from generated.models.registered import Registered
from generated.models.registration import Registration

anyone = Client(base_url=sys.argv[1])
registration = Registration(name="a generated bot", model_type="python")
agent = register_agent.sync(client=anyone, body=registration)
assert isinstance(agent, Registered), agent
page = list_questions.sync(client=anyone, status=ListQuestionsStatus.OPEN, limit=100)
assert isinstance(page, QuestionPage), page
forecasts = [
    ForecastOrWithdrawal(question_id=question.question_id, probability=0.5) for question in page.questions
]
answer = submit_forecasts.sync(
    agent.agent_id,
    client=AuthenticatedClient(base_url=sys.argv[1], token=agent.api_key),
    body=ForecastSubmissions(forecasts=forecasts),
    idempotency_key=str(uuid.uuid4()),
)
assert isinstance(answer, ForecastResults), answer
told = [
    f"ok {result.question_id}" if isinstance(result, AcceptedForecast) else f"refused {result.problem.type_.value}"
    for result in answer.results
]
early = get_agent_profile.sync(agent.agent_id, client=anyone)
assert isinstance(early, Problem), early
print(json.dumps({"told": told, "early": early.type_.value}))
