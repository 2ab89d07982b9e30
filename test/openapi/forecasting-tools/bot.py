"""A bot of forecasting-tools whose model is replaced: it prints how many questions it forecast on and skipped."""

import asyncio
import json

from adapter import VerifiedForecasts
from forecasting_tools import ForecastBot, ReasonedPrediction


class Bot(ForecastBot):
    async def run_research(self, question):
        return f"Nothing is known of {question.question_text}"

    async def _run_forecast_on_binary(self, question, research):
        assert question.resolution_criteria, "the criteria are there"
        return ReasonedPrediction(prediction_value=0.25, reasoning=research)

    async def _run_forecast_on_numeric(self, question, research):
        raise NotImplementedError

    async def _run_forecast_on_multiple_choice(self, question, research):
        raise NotImplementedError


client = VerifiedForecasts()
bot = Bot(
    publish_reports_to_metaculus=True,
    skip_previously_forecasted_questions=True,
    enable_summarize_research=False,
    llms={},
    metaculus_client=client,
)
offered = client.get_all_open_questions_from_tournament()
reports = asyncio.run(bot.forecast_questions(offered))
print(json.dumps({"offered": len(offered), "forecast": [report.prediction for report in reports]}))
