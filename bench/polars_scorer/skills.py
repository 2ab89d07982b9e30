"""The skills of each entity, and their intervals."""

import polars as pl

from method import ALPHA, INTERVAL_QUESTIONS, KAPPA, NANO, ONE_SIDED_RATIO, whole

# Nothing is priced, so that there is no skill over the market.
KNOWN = {"average": "", "median": "median_"}


def skills_of(pairs: pl.DataFrame) -> pl.LazyFrame:
    """Grain: one row per entity with a contested pair: the skill over each yardstick, and its standard error."""
    contested = (
        pairs.lazy()
        .filter("contested")
        .with_columns(**{f"{prefix}one_sided": one_sided(prefix) for prefix in KNOWN.values()})
    )

    def scatter(group: str) -> pl.LazyFrame:
        """Σ X² and Σ a² of each entity, by group."""
        return (
            contested.group_by("entity", group)
            .agg(pl.col("^(median_)?(gain|one_sided)$").sum().cast(pl.Float64))
            .group_by("entity")
            .agg(pl.col("^.*(gain|one_sided)$").pow(2).sum().name.suffix(f"_by_{group}"), pl.len().alias(f"{group}s"))
        )

    def lone(prefix: str) -> pl.Expr:
        """Σ f² of what is not one-sided."""
        return (pl.col(f"{prefix}spread") - pl.col(f"{prefix}one_sided")).cast(pl.Float64).pow(2).sum()

    def variance(prefix: str) -> pl.Expr:
        one_sided = pl.max_horizontal(f"{prefix}one_sided_by_cluster", f"{prefix}one_sided_by_week")
        otherwise = pl.col(f"{prefix}lone") + one_sided
        return pl.max_horizontal(f"{prefix}gain_by_cluster", f"{prefix}gain_by_week", otherwise)

    weights = {prefix: pl.col(f"{yardstick}_brier") + KAPPA for yardstick, prefix in KNOWN.items()}
    return (
        contested.group_by("entity")
        .agg(
            pl.col("^(average|median)_brier$", "^(median_)?gain$").sum(),
            **{f"{prefix}lone": lone(prefix) for prefix in KNOWN.values()},
        )
        .join(scatter("cluster"), on="entity")
        .join(scatter("week"), on="entity")
        .select(
            "entity",
            "clusters",
            evidence=pl.col("average_brier") / KAPPA,
            **{f"{prefix}skill": pl.col(f"{prefix}gain") / weight for prefix, weight in weights.items()},
            **{f"{prefix}error": variance(prefix).sqrt() / weight for prefix, weight in weights.items()},
        )
    )


def one_sided(prefix: str) -> pl.Expr:
    """f where many small gains against one great loss may be one bet, else 0."""
    gains = [f"{prefix}gain", f"{prefix}gain_if_other"]
    least, most = pl.min_horizontal(gains), pl.max_horizontal(gains)
    return pl.when((most > 0) & (-least > ONE_SIDED_RATIO * most)).then(f"{prefix}spread").otherwise(0)


def with_attempts(sums: pl.DataFrame) -> pl.DataFrame:
    """Numbers the agents of each owner; those without one are counted together."""
    is_agent, owner = pl.col("entity_type") == "agent", ["entity_type", "owner_id"]
    order = pl.struct("first_contested", "entity").rank("ordinal").over(owner)
    return sums.with_columns(
        owner_agents=pl.when(is_agent).then(pl.len().over(owner)),
        attempt=pl.when(is_agent & (pl.col("contested_questions") > 0)).then(order),
    )


def with_intervals(sums: pl.DataFrame) -> pl.DataFrame:
    clusters, attempt = pl.col("clusters"), pl.col("attempt")
    alpha = pl.when(attempt.is_null()).then(ALPHA).otherwise(2 * ALPHA / (attempt * (attempt + 1)))

    def multiplier(alpha: pl.Expr) -> pl.Expr:
        logarithm = whole(((clusters / INTERVAL_QUESTIONS + 1) / alpha**2).log() * NANO) / NANO
        return ((1 + INTERVAL_QUESTIONS / clusters) * logarithm).sqrt()

    def interval(prefix: str, alpha: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
        skill, margin = pl.col(f"{prefix}skill"), multiplier(alpha) * pl.col(f"{prefix}error")
        return pl.when(clusters >= 2).then(skill - margin), pl.when(clusters >= 2).then(skill + margin)

    is_on_board = pl.col("eligible") & ~pl.col("retired")
    intervals = {
        "skill": interval("", alpha),
        "median_skill": interval("median_", alpha),
        "board": (pl.when(is_on_board).then(end) for end in interval("", pl.lit(ALPHA))),
    }
    return sums.with_columns(
        skill_level=pl.when(clusters >= 2).then(1 - alpha),
        **{f"{name}_{end}": at for name, ends in intervals.items() for end, at in zip(["lower", "upper"], ends)},
    )
