"""The parameters of the method (docs/methodology.md), its units and its roundings."""

import polars as pl

PROBABILITY_FLOOR = 0.001
LEAST_OTHERS, LEAST_VOICES = 5, 6
WITNESS_MINUTES = 10
ALPHA = 0.05
INTERVAL_QUESTIONS = 20
ONE_SIDED_RATIO = 3
ELIGIBLE_QUESTIONS, CERTIFIED_QUESTIONS = 25, 50
LEAST_EVIDENCE, LEAST_SKILL, LEAST_COVERAGE = 1, 0.02, 0.2
STABILITY_WINDOW = 25
CALIBRATION_BINS = 10

# One, in parts per million, in 1e-9 and in 1e-12.
PPM, NANO, PICO = 1e6, 1e9, 1e12
# Ten imaginary questions, in 1e-9.
KAPPA = 10 * 0.25 * NANO

PAIR = ["question", "entity"]
# Each yardstick with the beginning of its columns. The market is the average while nothing is priced.
YARDSTICKS = {"average": "", "median": "median_", "market": "market_"}


def whole(expression: pl.Expr) -> pl.Expr:
    return expression.round(mode="half_to_even")


def published(expression: pl.Expr) -> pl.Expr:
    """With six decimals."""
    return whole(expression * 1e6) / 1e6
