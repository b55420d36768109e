"""Rows over several dimensions in which every pair of values that can stand together does, at least once."""

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["pairs_of", "rows"]

_CANDIDATES = 24  # more of them save hardly a row

Row = dict[str, str]
Pair = frozenset[tuple[str, str]]
Refuses = Callable[[Row], bool]


def pairs_of(row: Mapping[str, str]) -> set[Pair]:
    """The pairs of values that a row holds."""
    return {frozenset(pair) for pair in itertools.combinations(row.items(), 2)}


def rows(dimensions: Mapping[str, Sequence[str]], refuses: Refuses) -> list[Row]:
    """Cover every pair that some row can hold: of some rows that hold the next pair, take the one that covers most.

    The same dimensions always give the same rows.

    Args:
        dimensions: The values of each dimension.
        refuses: Whether a row, possibly with dimensions still missing, can never be deployed. Once true of a part, it is
            true of the whole.
    """
    open_pairs = dict.fromkeys(_all_pairs(dimensions))
    orders = [list(dimensions)]
    shuffle = random.Random(0).shuffle  # noqa: S311 - not a secret
    for _ in range(_CANDIDATES - 1):
        orders.append(orders[-1].copy())
        shuffle(orders[-1])
    chosen: list[Row] = []
    while open_pairs:
        pair = next(iter(open_pairs))
        candidates = [
            row
            for order in orders
            if (row := _complete(dict(pair), order, dimensions, refuses, open_pairs)) is not None
        ]
        if not candidates:  # no row can hold it
            del open_pairs[pair]
            continue
        row = max(candidates, key=lambda row: len(pairs_of(row) & open_pairs.keys()))
        for covered in pairs_of(row):
            open_pairs.pop(covered, None)
        chosen.append({name: row[name] for name in dimensions})
    return chosen


def _all_pairs(dimensions: Mapping[str, Sequence[str]]) -> Iterator[Pair]:
    for (one, values), (other, others) in itertools.combinations(dimensions.items(), 2):
        for value, another in itertools.product(values, others):
            yield frozenset({(one, value), (other, another)})


def _complete(
    row: Row,
    order: Sequence[str],
    dimensions: Mapping[str, Sequence[str]],
    refuses: Refuses,
    open_pairs: Mapping[Pair, None],
) -> Row | None:
    """Fill in the dimensions that are missing, the values that cover most first; go back where nothing fits."""
    if refuses(row):
        return None
    missing = next((name for name in order if name not in row), None)
    if missing is None:
        return row

    def covers(value: str) -> int:
        return -sum(frozenset({(missing, value), item}) in open_pairs for item in row.items())

    for value in sorted(dimensions[missing], key=covers):
        if (
            completed := _complete({**row, missing: value}, order, dimensions, refuses, open_pairs)
        ) is not None:
            return completed
    return None
