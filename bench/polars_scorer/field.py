"""What stands on each question as time goes on, and integrals over it."""

import numpy as np
import polars as pl

from method import NANO, PAIR, PPM, PROBABILITY_FLOOR, whole

# The probability of a withdrawal, in parts per million: above every other one.
NOTHING = 2_000_000


def is_first_of(*columns: str) -> pl.Expr:
    """Whether a row has other values than the row before."""
    return pl.any_horizontal(pl.col(columns) != pl.col(columns).shift()).fill_null(True)


def is_last_of(*columns: str) -> pl.Expr:
    return pl.any_horizontal(pl.col(columns) != pl.col(columns).shift(-1)).fill_null(True)


def steps_of(forecasts: pl.DataFrame) -> pl.DataFrame:
    """Grain: one row per forecast or withdrawal that held for a while."""
    limited = (1 - pl.col("error") / PPM).clip(PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR)
    return (
        forecasts.lazy()
        .filter(is_last_of(*PAIR, "at"))
        .with_columns(
            error=pl.when("yes").then(PPM - pl.col("ppm")).otherwise("ppm"),
            first=is_first_of(*PAIR),
            last=is_last_of(*PAIR),
            voice=(pl.col("own_voice") == pl.col("entity")).fill_null(False),
        )
        .with_columns(
            nats=whole(-NANO * limited.log()),
            held=pl.when("last").then("end").otherwise(pl.col("at").shift(-1)) - pl.col("at"),
        )
        .collect()
    )


def with_field(steps: pl.DataFrame, questions: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The steps, and the field that they are compared with.

    Grain of the field: one row before each question and one per step, in the order (question, time), with what stands
    from then on. A step gets the row before its own, `since`, and the last row while it holds, `until`.
    """

    def change(value: pl.Expr) -> pl.Expr:
        value = value.fill_null(0)
        return value - pl.when("first").then(0).otherwise(value.shift())

    stands, ppm = pl.col("ppm").is_not_null(), pl.col("ppm").fill_null(NOTHING).cast(pl.Int32)
    changes = {
        "current": change(stands.cast(pl.Float64)),
        "nats": change(pl.col("nats")),
        "voices": change((stands & pl.col("voice")).cast(pl.Float64)),
        "errors": change(pl.when("voice").then("error")),
    }
    came = pl.when("voice").then(ppm)
    went = pl.when("first").then(NOTHING).otherwise(ppm.shift())
    beginnings = questions.select("question", at=pl.col("opened") - 1, **{name: 0.0 for name in changes})
    in_order = (
        pl.concat([steps.select("question", "at", **changes, came=came, went=went), beginnings], how="diagonal")
        .with_row_index("row")
        .sort("question", "at")
    )
    next_at = pl.when(is_last_of("question")).then("end").otherwise(pl.col("at").shift(-1))
    field = (
        in_order.lazy()
        .join(questions.lazy().select("question", "yes", "end", "judged_until"), on="question", maintain_order="left")
        .select(
            "question",
            "yes",
            "went",
            pl.col(list(changes)).cum_sum().over("question"),
            came=pl.when(pl.col("at") < pl.col("judged_until")).then("came"),
            span=next_at - pl.col("at"),
            judged_span=(pl.min_horizontal(next_at, "judged_until") - pl.col("at")).clip(0),
        )
        .collect()
    )
    since = in_order["row"].arg_sort().cast(pl.Int32) - 1
    ended = since.tail(questions.height).shift(-1, fill_value=field.height - 1)
    until = pl.when("last").then(ended.gather(steps["question"])).otherwise(pl.col("since").shift(-1))
    return steps.with_columns(since=since.head(steps.height)).with_columns(until=until), with_median(field)


def with_median(field: pl.DataFrame) -> pl.DataFrame:
    """Adds the error of the median of the voices that stand."""
    row = field.with_row_index("row").filter(pl.col("came").is_not_null())
    known = row.select("row", median=medians(*(row[name].to_numpy() for name in ["question", "came", "went"])))
    median = pl.col("median").forward_fill().fill_null(0.0)
    return (
        field.lazy()
        .with_row_index("row")
        .join(known.lazy(), on="row", how="left", maintain_order="left")
        .select(
            pl.exclude("row", "yes", "came", "went", "median"),
            median=pl.when("yes").then(PPM - median).otherwise(median),
        )
        .collect()
    )


def medians(question: np.ndarray, came: np.ndarray, went: np.ndarray) -> np.ndarray:
    """The median after each step of a voice, by counting at each of a question's probabilities how many stand below."""
    result = np.zeros(len(question))
    starts = np.flatnonzero(np.diff(question, prepend=-1))
    for start, end in zip(starts, np.append(starts[1:], len(question))):
        levels = np.unique(came[start:end])
        changes = (came[start:end, None] <= levels).view(np.int8) - (went[start:end, None] <= levels).view(np.int8)
        counts = changes.cumsum(axis=0, dtype=np.int32)
        # The highest level may be that of withdrawals.
        number = counts[:, np.searchsorted(levels, NOTHING) - 1, None]
        lower = levels[(counts >= (number + 1) // 2).argmax(axis=1)]
        upper = levels[(counts >= number // 2 + 1).argmax(axis=1)]
        result[start:end] = (lower + upper) / 2
    return result


def greatest(numbers: np.ndarray, since: np.ndarray, until: np.ndarray) -> np.ndarray:
    """The greatest number after `since` and up to `until` for each, from the greatest of every 1, 2, 4, … in a row."""
    power = np.frexp(until - since)[1] - 1
    result = np.zeros(len(since), numbers.dtype)
    for k in range(power.max(initial=-1) + 1):
        of = power == k
        result[of] = np.maximum(numbers[since[of] + 1], numbers[until[of] - 2**k + 1])
        numbers = np.maximum(numbers[: -(2**k)], numbers[2**k :])
    return result


def with_growth(spells: pl.DataFrame, field: pl.DataFrame, rates: dict[str, pl.Expr]) -> pl.LazyFrame:
    """Adds how much integrals over the field grow over each spell. A rate is what its row adds to an integral."""
    integrals = field.select(**{name: rate.cum_sum().over("question") for name, rate in rates.items()})
    return spells.hstack(integrals[spells["until"]] - integrals[spells["since"]]).lazy()
