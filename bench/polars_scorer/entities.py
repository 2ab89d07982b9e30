"""The numbers of each entity."""

import polars as pl

from boards import with_offers, with_places
from method import (
    CALIBRATION_BINS,
    CERTIFIED_QUESTIONS,
    ELIGIBLE_QUESTIONS,
    LEAST_COVERAGE,
    LEAST_EVIDENCE,
    LEAST_SKILL,
    PPM,
    STABILITY_WINDOW,
    published,
)
from skills import KNOWN, skills_of, with_attempts, with_intervals


def entities_of(pairs: pl.DataFrame, questions: pl.DataFrame, entities: pl.DataFrame, voice_rule: str) -> pl.DataFrame:
    """Grain: one row per entity with a scored pair. `pairs` are in the order (entity, settled_at, question_id)."""
    facts = entities.lazy().select("entity", "entity_id", "entity_type", "owner_id", "own_voice", "retired")
    sums = (
        sums_of(pairs)
        .join(stability_of(pairs), on="entity", how="left")
        .join(calibration_errors(pairs), on="entity", how="left")
        .join(skills_of(pairs), on="entity", how="left")
        .join(facts, on="entity")
        .sort("entity")
        .with_columns(pl.col("clusters", "evidence").fill_null(0))
        .collect()
    )
    scored = with_intervals(with_attempts(sums)).with_columns(published(pl.col(pl.Float64)))
    placed = with_places(with_offers(scored, pairs, questions))
    return placed.with_columns(
        published(pl.col("answered_share")),
        pool=entities["entity_id"].gather(placed["pool"]),
        voice=(pl.col("own_voice") == pl.col("entity")).fill_null(False),
        award=award(voice_rule),
    ).drop(
        *["entity", "owner_id", "own_voice", "retired", "moved", "toward", "first_at", "last_at", "first_contested"],
        *[f"{prefix}error" for prefix in KNOWN.values()],
    )


def sums_of(pairs: pl.DataFrame) -> pl.LazyFrame:
    settled, contested = pl.col("settled"), pl.col("contested")

    def of_settled(name: str) -> pl.Expr:
        return pl.when(settled).then(name)

    def of_contested(name: str) -> pl.Expr:
        return pl.when(contested).then(name)

    def while_held(name: str) -> pl.Expr:
        weight = of_settled("coverage")
        return pl.when(settled.any()).then((weight * pl.col(name)).sum() / weight.sum())

    return (
        pairs.lazy()
        .group_by("entity")
        .agg(
            resolved_questions=settled.sum(),
            contested_questions=contested.sum(),
            priced_questions=pl.col("priced").sum(),
            pending_questions=(~settled).sum(),
            forecasts=of_settled("forecasts").sum(),
            witnessed_share=of_settled("witnessed").mean(),
            coverage=of_contested("judged_coverage").mean(),
            brier=while_held("brier"),
            log_score=while_held("log_score"),
            **{name: of_settled(name).mean() for name in ["baseline_score", "peer_score", "conviction"]},
            lean=of_contested("lean").mean(),
            moved=of_settled("moved").sum(),
            toward=of_settled("toward").sum(),
            first_at=of_settled("first_at").min(),
            last_at=of_settled("last_at").max(),
            first_contested=of_contested("settled_at").min(),
        )
        .with_columns(
            eligible=pl.col("contested_questions") >= ELIGIBLE_QUESTIONS,
            updates=pl.col("forecasts") - pl.col("resolved_questions"),
            responsiveness=pl.when(pl.col("moved") > 0).then(pl.col("toward") / pl.col("moved")),
        )
    )


def stability_of(pairs: pl.DataFrame) -> pl.LazyFrame:
    """The share of windows with a gain. Null without two windows' questions."""
    return (
        pairs.lazy()
        .filter("contested")
        .select("entity", is_ahead=pl.col("gain").rolling_sum(STABILITY_WINDOW).over("entity") > 0)
        .group_by("entity")
        .agg(skill_stability=pl.when(pl.len() >= 2 * STABILITY_WINDOW).then(pl.col("is_ahead").mean()))
    )


def calibration_errors(pairs: pl.DataFrame) -> pl.LazyFrame:
    """Bins are cut in whole parts per million, because Polars divides by a number inexactly."""
    closing, count = pl.col("closing"), pl.col("count")
    distance = (pl.col("frequency") - pl.col("mean") / PPM).abs()
    return (
        pairs.lazy()
        .filter("settled", closing.is_not_null())
        .group_by("entity", bin=(closing // (PPM / CALIBRATION_BINS)).clip(upper_bound=CALIBRATION_BINS - 1))
        .agg(count=pl.len(), mean=closing.mean(), frequency=pl.col("yes").mean())
        .group_by("entity")
        .agg(expected_calibration_error=(distance * count).sum() / count.sum())
    )


def award(voice_rule: str) -> pl.Expr:
    """The title, from published numbers."""
    certified = pl.all_horizontal(
        # Without prices nobody is certified by everyone.
        pl.lit(voice_rule == "recorded"),
        pl.col("contested_questions") >= CERTIFIED_QUESTIONS,
        pl.col("evidence") >= LEAST_EVIDENCE,
        pl.col("coverage") >= LEAST_COVERAGE,
        *[pl.col(f"{prefix}skill") >= LEAST_SKILL for prefix in KNOWN.values()],
        *[pl.col(f"{prefix}skill_lower").fill_null(0) > 0 for prefix in KNOWN.values()],
    )
    measured = pl.when("eligible").then(pl.lit("measured")).otherwise(pl.lit("none"))
    return pl.when(certified).then(pl.lit("certified")).otherwise(measured)
