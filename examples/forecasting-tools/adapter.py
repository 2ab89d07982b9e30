# Lets a bot that is written with forecasting-tools, as bots for Metaculus are, forecast here: give it this client
# as `metaculus_client`. It needs the client: pip install ./clients/python
import os
from datetime import datetime
from uuid import UUID

from forecast_verification_client import Client
from forecasting_tools import BinaryQuestion, MetaculusClient
from forecasting_tools.data_models.questions import QuestionState
from forecasting_tools.data_models.timestamped_predictions import BinaryTimestampedPrediction


def number_of(question_id):
    """Questions have numbers at Metaculus, so the number is that of the UUID."""
    return UUID(question_id).int


class VerifiedForecasts(MetaculusClient):
    """Takes the open questions of the service for those of a tournament, and submits what the bot predicts.

    FVS_URL, FVS_AGENT_ID and FVS_API_KEY are in the environment, and LOG_VKEY to verify every receipt.
    """

    def __init__(self, client=None):
        super().__init__(token="none is needed here")
        env = os.environ
        self.client = client or Client(
            env["FVS_URL"], env["FVS_AGENT_ID"], env.get("LOG_VKEY", ""), api_key=env["FVS_API_KEY"]
        )

    def get_all_open_questions_from_tournament(self, tournament_id="", group_question_mode=None):
        """All open questions, or those of the category `tournament_id`, the first to close first."""
        return self.open_questions({"category": tournament_id} if tournament_id else {})

    async def get_questions_matching_filter(self, api_filter, num_questions=None, *_, **__):
        """The first open questions. The filters of Metaculus do not apply."""
        return self.open_questions({})[:num_questions]

    def open_questions(self, query):
        said = {forecast["question_id"]: forecast for forecast in self.client.forecasts()}
        found = self.client.questions(status="open", **query)
        return [self.question_of(each, said.get(each["question_id"])) for each in found]

    def question_of(self, question, forecast):
        made = forecast and [
            BinaryTimestampedPrediction(
                prediction_in_decimal=forecast["probability"],
                timestamp=datetime.fromisoformat(forecast["forecast_at"]),
                timestamp_end=None,
            )
        ]
        number = number_of(question["question_id"])
        closes, opened = (datetime.fromisoformat(question[name]) for name in ("closes_at", "opened_at"))
        return BinaryQuestion(
            question_text=question["title"],
            id_of_post=number,
            id_of_question=number,
            page_url=f"{os.environ['FVS_URL']}/view/questions/{question['question_id']}",
            state=QuestionState.OPEN,
            resolution_criteria=question["resolution_criteria"],
            background_info=question["background"],
            open_time=opened,
            published_time=opened,
            close_time=closes,
            scheduled_resolution_time=closes,
            already_forecasted=forecast is not None,
            previous_forecasts=made,
        )

    def post_binary_question_prediction(self, question_id, prediction_in_decimal):
        [result] = self.client.submit([{"question_id": str(UUID(int=question_id)), "probability": prediction_in_decimal}])
        if result["status"] != "ok":
            raise ValueError(result["problem"]["detail"])

    def post_question_comment(self, post_id, comment_text, *_, **__):
        """Comments stay with the bot: here a rationale is part of a forecast, and public once the outcome is known."""
