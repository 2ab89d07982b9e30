"""The numbers of each entity on each question."""

import math

import polars as pl

from field import greatest, is_first_of, steps_of, with_field, with_growth
from method import LEAST_OTHERS, NANO, PAIR, PICO, PPM, YARDSTICKS, whole


def pairs_of(forecasts: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """Grain: one row per entity and question, in the units of the published scores."""
    steps, field = with_field(steps_of(forecasts), questions)
    held, life = pl.col("held"), pl.col("life")
    witnessed = forecasts.lazy().group_by(PAIR).agg(pl.col("witnessed").all())

    def part(integral: pl.Expr) -> pl.Expr:
        return whole(whole(integral / life) / 1e3).cast(pl.Int64)

    def square(name: str) -> pl.Expr:
        return pl.col(f"{name}_square")

    def square_if_other(name: str) -> pl.Expr:
        return PPM**2 * pl.col("judged") - 2 * PPM * pl.col(f"{name}_error") + square(name)

    integrals = {"judged": "judged", "average": "average", "median": "median", "market": "average"}
    return (
        described(steps, field)
        .lazy()
        .join(judged(steps, field).lazy(), on=PAIR, how="left")
        .join(witnessed, on=PAIR)
        .join(questions.lazy().select("question", "life", "settled"), on="question")
        .with_columns(pl.col("judged", "voices", "^.*_square$", "^.*_error$").fill_null(0))
        .select(
            *PAIR,
            *["settled", "forecasts", "first_at", "last_at", "moved", "toward", "closing", "witnessed", "voices"],
            coverage=held / life,
            brier=pl.col("brier") / held / PICO,
            log_score=pl.col("nats") / held / NANO,
            baseline_score=100 * (held - pl.col("nats") / NANO / math.log(2)) / life,
            peer_score=100 * pl.col("peer") / NANO / life,
            judged_coverage=pl.col("judged") / life,
            **{f"{name}_brier": part(square(of)) for name, of in integrals.items()},
            **{f"{name}_brier_if_other": part(square_if_other(of)) for name, of in integrals.items()},
            closing_probability=pl.col("closing") / PPM,
            lean=pl.col("lean") / pl.col("judged") / PPM,
            conviction=pl.col("conviction") / held / PPM,
            contested=pl.col("settled") & (pl.col("judged") > 0),
            priced=pl.lit(False),
        )
        .with_columns(**gains())
        .collect()
    )


def described(steps: pl.DataFrame, field: pl.DataFrame) -> pl.DataFrame:
    """Grain: one row per pair, with what is told of it over the whole life of the question."""
    spells = steps.filter(pl.col("ppm").is_not_null())
    current, held, nats, move = (pl.col(name) for name in ["current", "held", "nats", "move"])
    peers = {"peer_own": current, "peer_all": nats}
    rates = {
        name: pl.when(current >= 2).then(value / (current - 1) * pl.col("span")).otherwise(0.0)
        for name, value in peers.items()
    }
    return (
        with_growth(spells, field, rates)
        .with_columns(move=pl.when(is_first_of(*PAIR)).then(0).otherwise(pl.col("ppm") - pl.col("ppm").shift()))
        .group_by(PAIR)
        .agg(
            held=held.sum(),
            brier=(pl.col("error") ** 2 * held).sum(),
            nats=(nats * held).sum(),
            peer=(pl.col("peer_all") - nats * pl.col("peer_own")).sum(),
            conviction=((2 * pl.col("ppm") - PPM).abs() * held).sum(),
            forecasts=pl.len(),
            first_at=pl.col("made").min(),
            last_at=pl.col("made").max(),
            closing=pl.when("last").then("ppm").max(),
            moved=move.abs().sum(),
            toward=pl.when("yes").then(move).otherwise(-move).clip(0).sum(),
        )
        .collect()
    )


def judged(steps: pl.DataFrame, field: pl.DataFrame) -> pl.DataFrame:
    """Grain: one row per pair with a judged instant, with the integrals of what titles look at."""
    spells = with_left_out(steps.select(*PAIR, "own_voice", "voice", "yes", "first", "ppm", "error", "since", "until"))
    leaves_out = pl.col("out").is_not_null()
    error, out, time = (pl.col(name) for name in ["error", "out", "time"])
    mean = pl.col("mean") - out * pl.col("share")
    square = pl.col("square") - 2 * out * pl.col("cross") + out**2 * pl.col("share_square")
    lean = error * time - mean
    return (
        pl.concat([measured(spells.filter(leaves_out), field, 1), measured(spells.filter(~leaves_out), field, 0)])
        .filter(time > 0)
        .group_by(PAIR)
        .agg(
            judged=time.sum(),
            judged_square=(error**2 * time).sum(),
            judged_error=(error * time).sum(),
            average_square=square.sum(),
            average_error=mean.sum(),
            median_square=pl.col("median_square").sum(),
            median_error=pl.col("median").sum(),
            lean=pl.when("yes").then(-lean).otherwise(lean).sum(),
            voices=pl.col("voices").max(),
        )
        .collect()
    )


def with_left_out(steps: pl.DataFrame) -> pl.DataFrame:
    """The spells of forecasts, with `out`, the error of the voice that is left out: its own, or its owner's.

    Spells of an owner's further agents are cut where the forecast of its voice changes.
    """
    spells = steps.filter(pl.col("ppm").is_not_null())
    is_further = (pl.col("own_voice") != pl.col("entity")).fill_null(False)
    own = steps.filter("voice").select(
        "question", "first", own_voice="entity", out="error", begun="since", ended="until"
    )
    before = own.filter("first").with_columns(out=pl.lit(None), begun=-1, ended="begun")
    further = (
        spells.filter(is_further)
        .join(pl.concat([own, before], how="vertical_relaxed").drop("first"), on=["question", "own_voice"], how="left")
        .with_columns(since=pl.max_horizontal("since", "begun"), until=pl.min_horizontal("until", "ended"))
        .filter(pl.col("since") < pl.col("until"))
        .drop("begun", "ended")
    )
    return pl.concat([spells.filter(~is_further).with_columns(out=pl.when("voice").then("error")), further])


def measured(spells: pl.DataFrame, field: pl.DataFrame, left_out: int) -> pl.LazyFrame:
    """Adds how much the integrals of the others grow, `left_out` of the voices being left out."""
    others, median = pl.col("voices") - left_out, pl.col("median")
    mean = pl.col("errors") / others
    span = pl.when(others >= LEAST_OTHERS).then(pl.col("judged_span")).otherwise(0)
    rates = {"time": 1, "mean": mean, "square": mean**2, "median": median, "median_square": median**2}
    of_one = {"share": 1 / others, "cross": mean / others, "share_square": 1 / others**2}
    rates |= of_one if left_out else {name: pl.lit(0.0) for name in of_one}
    integrated = {name: pl.when(span > 0).then(rate * span).otherwise(0.0) for name, rate in rates.items()}
    numbers = field.select(pl.when(span > 0).then(others).otherwise(0).cast(pl.Int32)).to_series()
    voices = greatest(numbers.to_numpy(), spells["since"].to_numpy(), spells["until"].to_numpy())
    return with_growth(spells.with_columns(pl.col("out").fill_null(0), voices=pl.Series(voices)), field, integrated)


def gains() -> dict[str, pl.Expr]:
    """X, what it would have been had the question ended otherwise, and f, for each yardstick."""

    def gain(yardstick: str, ended: str = "") -> pl.Expr:
        return pl.col(f"{yardstick}_brier{ended}") - pl.col(f"judged_brier{ended}")

    def spread(yardstick: str) -> pl.Expr:
        product = gain(yardstick).cast(pl.Float64) * gain(yardstick, "_if_other")
        return whole((-product).clip(0).sqrt()).cast(pl.Int64)

    kinds = {"gain": gain, "gain_if_other": lambda name: gain(name, "_if_other"), "spread": spread}
    return {
        f"{prefix}{kind}": pl.when("contested").then(value(yardstick))
        for yardstick, prefix in YARDSTICKS.items()
        for kind, value in kinds.items()
    }
