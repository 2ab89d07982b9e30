"""Three of the scores by Polars, as a peer of a release: the same that bench/sql-scorer.ts has in SQL.

Arguments: the folder of the tables and the Parquet file to write. Prints what it took as JSON.
"""

import json
import resource
import sys
import time

import polars as pl

tables, target = sys.argv[1:]


def scan(table: str) -> pl.LazyFrame:
    return pl.scan_parquet(f"{tables}/{table}/**/*.parquet", hive_partitioning=False)


def ms(column: str) -> pl.Expr:
    return pl.col(column).dt.epoch("ms")


started = time.perf_counter()
pair = ["question", "entity"]
questions = (
    scan("questions")
    .join(scan("resolutions"), on="question_id")
    .filter(pl.col("outcome").is_in(["yes", "no"]))
    .select(
        "question_id",
        question=pl.int_range(pl.len(), dtype=pl.Int32),
        yes=pl.col("outcome") == "yes",
        opened=ms("opened_at"),
        horizon=ms("closes_at") - ms("opened_at"),
        end=pl.min_horizontal(ms("closes_at"), ms("resolved_at")),
    )
    .collect()
    .lazy()
)
# Numbers instead of texts of 36 characters, as the service has them while it scores.
entities = pl.concat(
    [scan("agents").select(entity_id="agent_id"), scan("forecasters").select(entity_id="user_id")]
).with_columns(entity=pl.int_range(pl.len(), dtype=pl.Int32)).collect().lazy()
spells = (
    scan("forecasts")
    .select("question_id", "entity_id", "probability", "forecast_id", made=ms("forecast_at"))
    .join(questions, on="question_id")
    .join(entities, on="entity_id")
    .filter(pl.col("made") < pl.col("end"))
    .select(
        *pair,
        "yes",
        "probability",
        "forecast_id",
        "made",
        "end",
        "horizon",
        at=pl.max_horizontal("made", "opened"),
        log_q=pl.when("yes")
        .then("probability")
        .otherwise(1 - pl.col("probability"))
        .clip(0.001, 0.999)
        .log(),
    )
    .sort(*pair, "made", "forecast_id")
    .unique(subset=[*pair, "at"], keep="last", maintain_order=True)
    .with_columns(
        before=pl.col("log_q").shift(1).over(pair),
        until=pl.col("at").shift(-1).over(pair).fill_null(pl.col("end")),
    )
    .select(*pair, "yes", "probability", "end", "horizon", "at", "until", "log_q", "before")
    .collect()
)
field = (
    spells.lazy()
    .group_by("question", "at")
    .agg(
        end=pl.col("end").first(),
        entering=pl.col("before").is_null().sum().cast(pl.Float64),
        change=(pl.col("log_q") - pl.col("before").fill_null(0)).sum(),
    )
    .sort("question", "at")
    .with_columns(
        n=pl.col("entering").cum_sum().over("question"),
        logs=pl.col("change").cum_sum().over("question"),
        next=pl.col("at").shift(-1).over("question").fill_null(pl.col("end")),
    )
    .with_columns(span=pl.col("next") - pl.col("at"), isAlone=pl.col("n") <= 1)
    .with_columns(
        own=pl.when("isAlone").then(0.0).otherwise(pl.col("n") / (pl.col("n") - 1) * pl.col("span")),
        all=pl.when("isAlone").then(0.0).otherwise(pl.col("logs") / (pl.col("n") - 1) * pl.col("span")),
    )
)
integrals = pl.concat(
    [
        field.select(
            "question",
            at="next",
            own=pl.col("own").cum_sum().over("question"),
            all=pl.col("all").cum_sum().over("question"),
        ),
        field.group_by("question").agg(at=pl.col("at").min(), own=pl.lit(0.0), all=pl.lit(0.0)),
    ]
).collect()
held = pl.col("until") - pl.col("at")
(
    spells.lazy()
    .join(integrals.lazy(), on=["question", "at"])
    .join(integrals.lazy(), left_on=["question", "until"], right_on=["question", "at"], suffix="_then")
    .group_by(pair)
    .agg(
        brier=((pl.col("probability") - pl.col("yes")) ** 2 * held).sum() / held.sum(),
        baseline_score=(100 * (1 + pl.col("log_q") / pl.lit(2.0).log()) * held).sum() / pl.col("horizon").first(),
        peer_score=(
            100
            * (
                pl.col("log_q") * (pl.col("own_then") - pl.col("own"))
                - (pl.col("all_then") - pl.col("all"))
            )
        ).sum()
        / pl.col("horizon").first(),
    )
    .join(questions.select("question", "question_id"), on="question")
    .join(entities.select("entity", "entity_id"), on="entity")
    .select("question_id", "entity_id", "brier", "baseline_score", "peer_score")
    .sort("entity_id", "question_id")
    .sink_parquet(target, compression="zstd")
)
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
