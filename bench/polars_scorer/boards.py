"""Pools, what was offered in them, and the places on their boards."""

import polars as pl

from method import PAIR, whole


def pools_of(pairs: pl.DataFrame) -> pl.DataFrame:
    """Grain: one row per contested pair, with the least entity of its kind that common questions tie to it."""
    pairs = pairs.filter("contested").select(*PAIR, "entity_type", pool="entity")
    least = pl.col("pool").min()
    while True:
        tied = pairs.with_columns(least.over("question", "entity_type")).with_columns(least.over("entity"))
        if tied.equals(pairs):
            return pairs
        pairs = tied


def with_offers(sums: pl.DataFrame, pairs: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """Adds the pool, the settled questions of it that were open meanwhile, and the share that was answered."""
    pooled = pools_of(pairs)
    sums = sums.join(pooled.select("entity", "pool").unique(), on="entity", how="left", maintain_order="left")
    offered = pooled.select("question", "pool").unique().join(questions, on="question")
    active = sums.select("entity", "pool", active_since="first_at", active_until="last_at")
    # Those that were answered, but not open while the entity was active.
    aside = (pl.col("opened") > pl.col("active_until")) | (pl.col("end") <= pl.col("active_since"))
    answered = (
        pairs.lazy()
        .filter("settled")
        .select(PAIR)
        .join(active.lazy(), on="entity")
        .join(offered.lazy().select("question", "pool", "opened", "end"), on=["question", "pool"])
        .group_by("entity")
        .agg(answered=pl.len(), aside=aside.sum())
        .collect()
    )
    begun = counts_up_to(sums.select("pool", at="last_at"), offered.select("pool", at="opened"))
    ended = counts_up_to(sums.select("pool", at="first_at"), offered.select("pool", at="end"))
    return (
        sums.with_columns(offered_questions=begun - ended, pool_size=pl.len().over("pool"))
        .join(answered, on="entity", how="left", maintain_order="left")
        .with_columns(
            offered_questions=pl.col("offered_questions") + pl.col("aside").fill_null(0),
            pool_size=pl.when(pl.col("pool").is_not_null()).then("pool_size"),
        )
        .with_columns(answered_share=pl.col("answered") / pl.col("offered_questions"))
        .drop("answered", "aside")
    )


def with_places(sums: pl.DataFrame) -> pl.DataFrame:
    """Adds the places on the board of each pool, from published numbers."""
    board = sums.filter(pl.col("eligible") & ~pl.col("retired"))
    lower, upper = board.select("pool", at="board_lower"), board.select("pool", at="board_upper")
    negative = -pl.col("at")
    # An end is above another one if its negative is below.
    not_above = counts_up_to(upper, lower.drop_nulls())
    not_below = counts_up_to(lower.with_columns(negative), upper.drop_nulls().with_columns(negative))
    with_interval = pl.col("board_lower").count().over("pool")
    members, skill = pl.len().over("pool"), pl.col("skill")
    has_interval = pl.col("board_lower").is_not_null()
    up_to_own = skill.rank("max").over("pool")
    places = board.select(
        "entity",
        rank=1 + members - up_to_own,
        rank_lower=1 + pl.when(has_interval).then(with_interval - not_above).otherwise(0),
        rank_upper=members - pl.when(has_interval).then(with_interval - not_below).otherwise(0),
        percentile=whole(5000 * (skill.rank("min").over("pool") - 1 + up_to_own) / members) / 100,
    )
    return sums.join(places, on="entity", how="left", maintain_order="left")


def counts_up_to(limits: pl.DataFrame, values: pl.DataFrame) -> pl.Series:
    """For each limit the number of values in its pool that are not above it. Both have the columns `pool` and `at`."""
    counted = values.sort("at").with_columns(count=pl.int_range(1, pl.len() + 1).over("pool"))
    known = limits.with_row_index("row").drop_nulls().sort("at")
    counts = known.join_asof(counted, on="at", by="pool", check_sortedness=False).select("row", "count")
    rows = pl.DataFrame({"row": pl.int_range(limits.height, dtype=pl.UInt32, eager=True)})
    return rows.join(counts, on="row", how="left", maintain_order="left")["count"].fill_null(0)
