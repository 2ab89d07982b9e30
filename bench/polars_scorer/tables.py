"""The tables, with numbers instead of texts of 36 characters, as the service has them while it scores."""

from datetime import datetime

import polars as pl

from method import PAIR, PPM, WITNESS_MINUTES, whole


class Tables:
    """The tables of a folder, and what was known at a time."""

    def __init__(self, folder: str, as_of: str) -> None:
        self.folder = folder
        self.now = pl.lit(datetime.fromisoformat(as_of))

    def scan(self, table: str) -> pl.LazyFrame:
        return pl.scan_parquet(f"{self.folder}/{table}/**/*.parquet", hive_partitioning=False)

    def questions(self) -> pl.DataFrame:
        """Those that score, in the order of their ids."""
        closes, life = ms("closes_at"), ms("closes_at") - ms("opened_at")
        end = pl.min_horizontal(closes, ms("resolved_at"))
        unit = pl.lit("question:") + pl.col("question_id")
        event = pl.when(pl.col("event_id") != "").then(pl.lit("event:") + pl.col("event_id"))
        return (
            self.scan("questions")
            .join(self.scan("resolutions"), on="question_id")
            .filter(pl.col("outcome").is_in(["yes", "no"]), pl.col("resolved_at") <= self.now)
            .sort("question_id")
            .select(
                "question_id",
                "outcome",
                "resolved_at",
                question=pl.int_range(pl.len(), dtype=pl.Int32),
                yes=pl.col("outcome") == "yes",
                opened=ms("opened_at"),
                life=life,
                end=end,
                # The last quarter is rounded down.
                judged_until=pl.min_horizontal(end, closes - life // 4),
                settled=pl.col("closes_at") <= self.now,
                settled_at=pl.max_horizontal("closes_at", "resolved_at"),
                unit=unit,
                cluster=pl.coalesce(event, unit),
                week=pl.col("closes_at").dt.strftime("%G-W%V"),
            )
            .collect()
        )

    def entities(self) -> pl.DataFrame:
        """`own_voice` is the entity itself if it is a voice, else the voice of its owner; null without one."""
        first = pl.col("agent_id").sort_by("registered_at", "agent_id").first().over("owner_id")
        is_recorded = ~pl.col("owner_id").str.starts_with("domain:")
        agents = self.scan("agents").select(
            "owner_id",
            entity_type=pl.lit("agent"),
            entity_id="agent_id",
            voice_id=pl.when(is_recorded).then(first),
            retired=(pl.col("retired_at") <= self.now).fill_null(False),
        )
        forecasters = self.scan("forecasters").select(
            entity_type=pl.lit("forecaster"), entity_id="user_id", voice_id="user_id", retired=pl.lit(False)
        )
        entities = (
            pl.concat([agents, forecasters], how="diagonal")
            .sort("entity_type", "entity_id")
            .with_columns(entity=pl.int_range(pl.len(), dtype=pl.Int32))
        )
        voices = entities.select(voice_id="entity_id", own_voice="entity")
        return entities.join(voices, on="voice_id", how="left").drop("voice_id").sort("entity").collect()

    def forecasts(self, questions: pl.DataFrame, entities: pl.DataFrame) -> pl.DataFrame:
        """Grain: one row per forecast before the effective close, by pair and time. A withdrawal has no `ppm`."""
        by_agent, by_import = pl.col("entity_type") == "agent", pl.col("source") == "import"
        at_once = pl.col("recorded_at") <= pl.col("forecast_at") + pl.duration(minutes=WITNESS_MINUTES)
        return (
            self.scan("forecasts")
            .filter(~by_agent | ~by_import)
            .join(questions.lazy().select("question_id", "question", "yes", "opened", "end"), on="question_id")
            .join(entities.lazy().select("entity_id", "entity", "own_voice"), on="entity_id")
            .select(
                *PAIR,
                "own_voice",
                "yes",
                "end",
                "forecast_id",
                made=ms("forecast_at"),
                at=pl.max_horizontal(ms("forecast_at"), "opened"),
                ppm=whole(PPM * pl.col("probability")),
                witnessed=~by_import & (by_agent | (at_once & (ms("recorded_at") < pl.col("end")))),
            )
            .filter(pl.col("at") < pl.col("end"))
            .sort(*PAIR, "made", "forecast_id")
            .drop("forecast_id")
            .collect()
        )


def ms(column: str) -> pl.Expr:
    return pl.col(column).dt.epoch("ms")
