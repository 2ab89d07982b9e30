"""Makes the probabilities of an event such that all of them can be right."""

from collections.abc import Mapping, Sequence

from .api import EventKind


def normalise(probabilities: Mapping[str, float], kind: EventKind) -> dict[str, float]:
    """Returns the probabilities of an event's questions as its kind allows. Of an `exclusive` event they are divided by
    their sum, of an `at_most_one` event only if that is above 1. Of an `ordered` event, whose questions are named from the
    lowest threshold to the highest, neighbours that rise are replaced by their mean."""
    values = list(probabilities.values())
    total = sum(values)
    if kind == "ordered":
        values = falling(values)
    elif kind == "exclusive" or (kind == "at_most_one" and total > 1):
        values = [value / total if total else 1 / len(values) for value in values]
    return dict(zip(probabilities, values, strict=True))


def falling(values: Sequence[float]) -> list[float]:
    """Returns the values nearest to these that never rise (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pool = (value, 1)
        while pools and pools[-1][0] / pools[-1][1] < pool[0] / pool[1]:
            last = pools.pop()
            pool = (last[0] + pool[0], last[1] + pool[1])
        pools.append(pool)
    return [whole / count for whole, count in pools for _ in range(count)]
