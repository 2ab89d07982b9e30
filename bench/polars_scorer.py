"""The scores of a release by Polars, as a peer: every column of a pair, the strengths, and the sums of each entity.

Left out are what is done about a forecast_id that comes twice, intervals and what follows from them (ranks, titles),
calibration, stability, and publishing. Arguments: the folder of the tables, and the folder in which it writes
`scores.parquet` and `entities.parquet`. Prints what it took as JSON.
"""

import json
import resource
import sys
import time

import polars as pl

TABLES, TARGET = sys.argv[1:]
# The parameters of the method (docs/methodology.md).
FLOOR = 0.001
CONTEST_VOICES = 5
LEAST_VOICES = 6
ELIGIBLE_QUESTIONS = 25
PASSES = 20
UNIT = 1e6
LEAST, MOST = 0.05 * UNIT, 10 * UNIT
NANO = 1e9
PRIOR = 10 * 0.25 * NANO

PAIR = ["question", "entity"]


def scan(table: str) -> pl.LazyFrame:
    return pl.scan_parquet(f"{TABLES}/{table}/**/*.parquet", hive_partitioning=False)


def ms(column: str) -> pl.Expr:
    return pl.col(column).dt.epoch("ms")


def whole(expression: pl.Expr) -> pl.Expr:
    return expression.round(mode="half_to_even")


def known_questions() -> pl.DataFrame:
    """Those that score, with numbers instead of texts of 36 characters, as the service has them while it scores."""
    return (
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
    )


def known_entities() -> pl.DataFrame:
    """A voice is every forecaster, and the first agent of each owner."""
    agent = pl.col("agent_id")
    is_first = agent == agent.sort_by("registered_at", "agent_id").first().over("owner_id")
    return pl.concat(
        [
            scan("agents").select(
                entity_type=pl.lit("agent"),
                entity_id="agent_id",
                voice=pl.col("owner_id").is_not_null() & is_first,
            ),
            scan("forecasters").select(entity_type=pl.lit("forecaster"), entity_id="user_id", voice=pl.lit(True)),
        ]
    ).with_columns(entity=pl.int_range(pl.len(), dtype=pl.Int32)).collect()


def forecasts_in_order(questions: pl.DataFrame, entities: pl.DataFrame) -> pl.DataFrame:
    """Grain: one row per forecast before the effective close."""
    stated = pl.when("yes").then("probability").otherwise(1 - pl.col("probability"))
    return (
        scan("forecasts")
        .select(
            "question_id",
            "entity_id",
            "probability",
            "forecast_id",
            made=ms("forecast_at"),
            imported=pl.col("source") == "import",
        )
        .join(questions.lazy(), on="question_id")
        .join(entities.lazy(), on="entity_id")
        .filter(pl.col("made") < pl.col("end"))
        .sort(*PAIR, "made", "forecast_id")
        .select(
            *PAIR,
            "voice",
            "yes",
            "probability",
            "imported",
            "end",
            at=pl.max_horizontal("made", "opened"),
            error=1 - stated,
            nats=-stated.clip(FLOOR, 1 - FLOOR).log(),
        )
        .collect()
    )


def updates_of(forecasts: pl.DataFrame) -> pl.LazyFrame:
    """What follows from the forecasts of a pair in their order, however long each stood."""
    probability = pl.col("probability")
    step = probability.diff()
    toward = pl.when("yes").then(step).otherwise(-step).clip(0)
    wander = pl.col("moved") - (pl.col("highest") - pl.col("lowest"))
    return (
        forecasts.lazy()
        .group_by(PAIR)
        .agg(
            forecasts=pl.len(),
            imported=pl.col("imported").sum(),
            closing_probability=probability.last(),
            moved=step.abs().sum(),
            toward=toward.sum(),
            highest=probability.max(),
            lowest=probability.min(),
        )
        .with_columns(
            flip_flop=pl.when(pl.col("forecasts") >= 3).then(wander / (pl.col("forecasts") - 2)),
        )
        .drop("highest", "lowest")
    )


def spells_of(forecasts: pl.DataFrame) -> pl.DataFrame:
    """Grain: one row per time over which a forecast stood."""
    before = {f"{name}_before": pl.col(name).shift().over(PAIR).fill_null(0) for name in ["error", "nats"]}
    return (
        forecasts.lazy()
        .unique(subset=[*PAIR, "at"], keep="last", maintain_order=True)
        .with_columns(
            entering=pl.int_range(pl.len()).over(PAIR) == 0,
            until=pl.col("at").shift(-1).over(PAIR).fill_null(pl.col("end")),
            **before,
        )
        .collect()
    )


def field_of(spells: pl.DataFrame) -> pl.LazyFrame:
    """Integrals over the standing forecasts of each question, up to each time at which one of them changes.

    n is the number of standing forecasts and `nats` the sum of theirs; m is the number of standing voices, s the sum of
    their errors and s2 that of the squares. A voice is compared with the m - 1 others, anyone else with m.
    """
    entered, voice = pl.col("entering"), pl.col("voice")

    def of_voices(change: pl.Expr) -> pl.Expr:
        return pl.when(voice).then(change).otherwise(0).sum()

    changes = (
        spells.lazy()
        .group_by("question", "at")
        .agg(
            end=pl.col("end").first(),
            n=entered.sum().cast(pl.Float64),
            nats=(pl.col("nats") - pl.col("nats_before")).sum(),
            m=(entered & voice).sum().cast(pl.Float64),
            s=of_voices(pl.col("error") - pl.col("error_before")),
            s2=of_voices(pl.col("error") ** 2 - pl.col("error_before") ** 2),
        )
        .sort("question", "at")
    )
    n, nats, m, s, s2, span = (pl.col(name) for name in ["n", "nats", "m", "s", "s2", "span"])
    among = {
        "peer_own": (n >= 2, n / (n - 1)),
        "peer_all": (n >= 2, nats / (n - 1)),
        "squares": (m >= 2, s2 / (m - 1)),
        "share": (m >= 2, 1 / (m - 1)),
        "squared_sum": (m >= 2, s**2 / (m - 1) ** 2),
        "sum": (m >= 2, s / (m - 1) ** 2),
        "squared_share": (m >= 2, 1 / (m - 1) ** 2),
        "alone": (m == 1, pl.lit(1.0)),
        "outside_squares": (m >= 1, s2 / m),
        "outside_squared_sum": (m >= 1, s**2 / m**2),
        "outside_alone": (m == 0, pl.lit(1.0)),
    }
    grown = {name: pl.when(holds).then(value * span).otherwise(0.0) for name, (holds, value) in among.items()}
    standing = changes.with_columns(
        pl.col("n", "nats", "m", "s", "s2").cum_sum().over("question"),
        next=pl.col("at").shift(-1).over("question").fill_null(pl.col("end")),
    ).with_columns(span=pl.col("next") - pl.col("at"))
    return pl.concat(
        [
            standing.select("question", at="next", **grown),
            standing.group_by("question").agg(at=pl.col("at").min(), **{name: pl.lit(0.0) for name in grown}),
        ]
    ).sort("question", "at").with_columns(pl.col(list(grown)).cum_sum().over("question"))


def pairs_of(forecasts: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """Grain: one row per entity and question."""
    spells = spells_of(forecasts)
    field = field_of(spells).collect().lazy()

    def grown(name: str) -> pl.Expr:
        """How much an integral has grown while the forecast stood."""
        return pl.col(f"{name}_until") - pl.col(name)

    voice, error, nats = pl.col("voice"), pl.col("error"), pl.col("nats")
    held = pl.col("until") - pl.col("at")
    squared = error**2
    reference = (
        pl.when(voice)
        .then(grown("squares") - squared * grown("share") + squared * grown("alone"))
        .otherwise(grown("outside_squares") + squared * grown("outside_alone"))
    )
    crowd = (
        pl.when(voice)
        .then(
            grown("squared_sum")
            - 2 * error * grown("sum")
            + squared * grown("squared_share")
            + squared * grown("alone")
        )
        .otherwise(grown("outside_squared_sum") + squared * grown("outside_alone"))
    )
    scores = (
        spells.lazy()
        .join(field, on=["question", "at"])
        .join(field, left_on=["question", "until"], right_on=["question", "at"], suffix="_until")
        .group_by(PAIR)
        .agg(
            voice=voice.first(),
            held=held.sum(),
            brier=(squared * held).sum(),
            reference=reference.sum(),
            crowd=crowd.sum(),
            nats=(nats * held).sum(),
            conviction=((2 * pl.col("probability") - 1).abs() * held).sum(),
            peer=(grown("peer_all") - nats * grown("peer_own")).sum(),
        )
    )
    held, horizon, nats = pl.col("held"), pl.col("horizon"), pl.col("nats")
    return (
        scores.join(updates_of(forecasts), on=PAIR)
        .join(questions.lazy().select("question", "horizon"), on="question")
        .select(
            *PAIR,
            "voice",
            voices=voice.sum().over("question").cast(pl.Int32) - voice,
            coverage=held / horizon,
            brier=pl.col("brier") / held,
            reference_brier=pl.col("reference") / held,
            crowd_brier=pl.col("crowd") / held,
            log_score=nats / held,
            baseline_score=100 * (held - nats / pl.lit(2.0).log()) / horizon,
            peer_score=100 * pl.col("peer") / horizon,
            conviction=pl.col("conviction") / held,
            brier_part=whole(NANO * pl.col("brier") / horizon),
            reference_part=whole(NANO * pl.col("reference") / horizon),
            crowd_part=whole(NANO * pl.col("crowd") / horizon),
            weight=whole(1e4 * held / horizon).clip(1),
            **{
                name: name
                for name in ["forecasts", "imported", "closing_probability", "moved", "toward", "flip_flop"]
            },
        )
        .collect()
    )


def with_standards(pairs: pl.DataFrame, entities: int, questions: int) -> pl.DataFrame:
    """Adds what a middle field would have got on each contested pair, and the strength of its entity in 1e-6.

    The number of an entity or a question is its place, so that what belongs to a pair is gathered instead of joined.
    """
    by_question, by_entity = pairs["question"], pairs["entity"]
    contested = pl.col("voices") >= CONTEST_VOICES
    own = pl.when("voice").then("weight").otherwise(0.0)

    def sums(frame: pl.DataFrame, key: str, size: int, value: pl.Expr) -> pl.Series:
        """For each place its sum, 0 where it has none."""
        summed = frame.lazy().group_by(key).agg(value=value.cast(pl.Float64)).collect()
        return (
            pl.select(pl.int_range(size, dtype=pl.Int32).alias(key))
            .join(summed, on=key, how="left", maintain_order="left")["value"]
            .fill_null(0.0)
        )

    def standard(strength: pl.Series, scale: float) -> pl.DataFrame:
        with_strength = pairs.with_columns(strength=strength.gather(by_entity), own=own)
        field = sums(with_strength, "question", questions, (pl.col("own") * pl.col("strength")).sum())
        strength_of_others = pl.col("field") - pl.col("own") * pl.col("strength")
        factor = (pl.col("weights") - pl.col("own")) * scale / strength_of_others
        return with_strength.with_columns(
            field=field.gather(by_question), weights=weights.gather(by_question)
        ).with_columns(standard=pl.when(contested).then(whole(pl.col("reference_part") * factor)))

    weights = sums(pairs.with_columns(own=own), "question", questions, pl.col("own").sum())
    errors = sums(pairs.filter(contested), "entity", entities, pl.col("brier_part").sum())
    asked = sums(pairs.filter(contested), "entity", entities, pl.len())
    voice = sums(pairs, "entity", entities, pl.col("voice").any()) > 0
    strength = pl.repeat(UNIT, entities, eager=True)
    scale = UNIT
    for _ in range(PASSES):
        middle = sums(standard(strength, UNIT), "entity", entities, pl.col("standard").sum())
        ratios = (errors / middle).filter(voice & (asked >= ELIGIBLE_QUESTIONS) & (middle > 0))
        # Of an even number the lower one in the middle.
        scale = UNIT if ratios.is_empty() else round(UNIT * ratios.quantile(0.5, interpolation="lower"))
        fitted = (errors + PRIOR) / (middle * (scale / UNIT) + PRIOR)
        strength = (
            pl.DataFrame({"fitted": fitted, "asked": asked})
            .select(
                pl.when(pl.col("asked") > 0).then(whole(UNIT * pl.col("fitted")).clip(LEAST, MOST)).otherwise(UNIT)
            )
            .to_series()
        )
    return standard(strength, scale)


def entity_sums(pairs: pl.DataFrame) -> pl.LazyFrame:
    """Grain: one row per entity with a scored pair."""
    contested = pl.col("standard").is_not_null()
    coverage, forecasts = pl.col("coverage").sum(), pl.col("forecasts").sum()
    standard = pl.col("standard").sum()
    own, crowd = (pl.col(part).filter(contested).sum() for part in ["brier_part", "crowd_part"])
    skills = {
        "skill": (standard - own) / (standard + PRIOR),
        "crowd_skill": (crowd - own) / (crowd + PRIOR),
    }
    return (
        pairs.lazy()
        .group_by("entity")
        .agg(
            resolved_questions=pl.len(),
            contested_questions=contested.sum(),
            forecasts=forecasts,
            imported_share=pl.col("imported").sum() / forecasts,
            coverage_sum=coverage,
            brier=pl.col("brier_part").sum() / NANO / coverage,
            log_score=pl.col("log_score").dot("coverage") / coverage,
            **{name: pl.col(name).mean() for name in ["baseline_score", "peer_score", "conviction", "flip_flop"]},
            moved=pl.col("moved").sum(),
            toward=pl.col("toward").sum(),
            updates=forecasts - pl.len(),
            updates_per_question=(forecasts - pl.len()) / pl.len(),
            strength=pl.col("strength").first() / UNIT,
            **{name: pl.when(contested.any()).then(skill) for name, skill in skills.items()},
        )
        .with_columns(
            responsiveness=pl.when(pl.col("moved") > 0).then(pl.col("toward") / pl.col("moved")),
        )
        .drop("moved", "toward")
    )


def main() -> None:
    questions, entities = known_questions(), known_entities()
    forecasts = forecasts_in_order(questions, entities)
    if forecasts.filter("voice")["entity"].n_unique() < LEAST_VOICES:
        forecasts = forecasts.with_columns(voice=pl.lit(True))
    pairs = with_standards(pairs_of(forecasts, questions), entities.height, questions.height)
    names = entities.lazy().select("entity", "entity_type", "entity_id")
    (
        pairs.lazy()
        .join(questions.lazy().select("question", "question_id"), on="question")
        .join(names, on="entity")
        .select(
            "entity_type",
            "entity_id",
            "question_id",
            "coverage",
            "brier",
            "reference_brier",
            "crowd_brier",
            "log_score",
            "baseline_score",
            "peer_score",
            "voices",
            "forecasts",
            "closing_probability",
            contested=pl.col("standard").is_not_null(),
            standard_reference="standard",
        )
        .sort("entity_type", "entity_id", "question_id")
        .sink_parquet(f"{TARGET}/scores.parquet", compression="zstd")
    )
    (
        entity_sums(pairs)
        .join(names, on="entity")
        .drop("entity")
        .sort("entity_type", "entity_id")
        .sink_parquet(f"{TARGET}/entities.parquet", compression="zstd")
    )


if __name__ == "__main__":
    started = time.perf_counter()
    main()
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
