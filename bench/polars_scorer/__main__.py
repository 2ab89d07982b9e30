"""The scores of a release by Polars, as a peer: every column of a pair, and the numbers of each entity.

Left out are events, prices, corrections, a forecast_id that comes twice, the decomposition of calibration, the skill
over the last hundred questions, and publishing. Arguments: the folder of the tables, the folder in which it writes
`scores.parquet` and `entities.parquet`, and `as_of`. Prints what it took as JSON.
"""

import json
import resource
import sys
import time

import polars as pl

from entities import entities_of
from method import LEAST_VOICES, PAIR, YARDSTICKS
from pairs import pairs_of
from tables import Tables

# What an entity is scored from beside the published scores.
UNPUBLISHED = ["first_at", "last_at", "moved", "toward", "closing", "conviction", "lean", "yes"]
UNPUBLISHED += [f"{prefix}gain_if_other" for prefix in YARDSTICKS.values()]


def main(folder: str, target: str, as_of: str) -> None:
    tables = Tables(folder, as_of)
    questions, entities = tables.questions(), tables.entities()
    forecasts = tables.forecasts(questions, entities)
    pairs, voice_rule = pairs_of(forecasts, questions), "recorded"
    if scored_voices(pairs, entities) < LEAST_VOICES:
        entities, voice_rule = entities.with_columns(own_voice="entity"), "everyone"
        pairs = pairs_of(forecasts.with_columns(own_voice="entity"), questions)
    pairs = (
        pairs.lazy()
        .join(questions.lazy().select("question", "settled_at", "yes", "cluster", "week"), on="question")
        .join(entities.lazy().select("entity", "entity_type"), on="entity")
        .sort("entity", "settled_at", "question")
        .collect()
    )
    (
        pairs.lazy()
        .join(
            questions.lazy().select("question", "question_id", "outcome", "resolved_at", "unit"),
            on="question",
            maintain_order="left",
        )
        .join(entities.lazy().select("entity", "entity_id"), on="entity", maintain_order="left")
        .with_columns(settled_at=pl.when("settled").then("settled_at"), divisor=1)
        .drop(PAIR + UNPUBLISHED)
        .sink_parquet(f"{target}/scores.parquet", compression="zstd", compression_level=2)
    )
    entities_of(pairs, questions, entities, voice_rule).write_parquet(f"{target}/entities.parquet", compression="zstd")


def scored_voices(pairs: pl.DataFrame, entities: pl.DataFrame) -> int:
    """How many voices have a settled pair."""
    scored = pairs.filter("settled")["entity"].unique()
    return entities.filter(pl.col("own_voice") == pl.col("entity"), pl.col("entity").is_in(scored.implode())).height


if __name__ == "__main__":
    started = time.perf_counter()
    main(*sys.argv[1:])
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - started,
                "cpuSeconds": used.ru_utime + used.ru_stime,
                "peakBytes": used.ru_maxrss * 1024,
            }
        )
    )
