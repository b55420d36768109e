"""Constructs refuse arguments that cannot be, with a finding for each: 300 calls, drawn from a seed."""

import inspect
import random
import resource
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Unpack, get_args, get_origin

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.test_numbers import (
    TAKES_NUMBERS,
    Made,
    makers,  # noqa: F401 - a fixture
    stack,  # noqa: F401 - a fixture
)

from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow

SEED, CALLS = 21, 300
# Checked without a construct.
VALUES = {
    "Candidate",
    "CapacityBlock",
    "CapacityReservation",
    "Network",
    "OnDemand",
    "QuotaShare",
    "ReservationGroup",
    "Spot",
}
_TEXTS = (
    "",
    " ",
    "\x1b[31mred",
    "a" * 5000,
    "é\u202e",
    "\udcff",
    "../..",
    "a b",
    "-",
    "0",
    "${Token[TOKEN.1]",
    "null\x00",
)
_OTHERS = (
    *(
        None,
        True,
        7,
        b"bytes",
        object(),
        [],
        {},
        {"a": 1},
        [None],
        ["\x1b"],
        [[]],
        {"": ""},
        {1: 2},
        {"A=B": "x"},
    ),
    *("2026-12-01", "12:00", datetime(2026, 12, 1), datetime(1, 1, 1, tzinfo=UTC), cdk.Duration.seconds(0)),  # noqa: DTZ001
)


def _parameters(made: Made) -> dict[str, Any]:
    """The keywords of a callable, with their annotations."""
    function = made.__init__ if inspect.isclass(made) else made  # type: ignore[misc] - mypy thinks of instances
    annotations: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if get_origin(parameter.annotation) is Unpack:
            annotations |= get_args(parameter.annotation)[0].__annotations__
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            annotations[parameter.name] = parameter.annotation
    return annotations


def _calls(seed: int, count: int) -> list[tuple[str, str, Any]]:
    chance = random.Random(seed)  # noqa: S311 - chance that can be repeated
    names = sorted(TAKES_NUMBERS)
    calls = []
    while len(calls) < count:
        name = chance.choice(names)
        if parameters := sorted(_parameters(TAKES_NUMBERS[name])):
            calls.append((name, chance.choice(parameters), chance.choice(chance.choice((_TEXTS, _OTHERS)))))
    return calls


def test_hostile_calls_are_refused_with_findings(
    stack: cdk.Stack,  # noqa: F811 - the fixture
    makers: Mapping[str, Made],  # noqa: F811 - the fixture
    capsys: pytest.CaptureFixture[str],
) -> None:
    problems, slowest, refused, taken = [], 0.0, 0, 0
    for name, argument, value in _calls(SEED, CALLS):
        began = time.monotonic()
        try:
            makers[name](**{argument: value})
            taken += 1
        except FindingsError as error:
            refused += 1
            if any(not str(finding).isprintable() for finding in error.findings):
                problems.append(f"{name}({argument}={value!a:.60}): controls in {error!a}")
            if name not in VALUES and any(finding.location[:4] != "Test" for finding in error.findings):
                problems.append(f"{name}({argument}={value!a:.60}): no construct in {error!a}")
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is no finding
            problems.append(f"{name}({argument}={value!a:.60}): {type(error).__name__}: {error!s:.120}")
        slowest = max(slowest, time.monotonic() - began)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with capsys.disabled():
        print(  # noqa: T201 - the seed, the worst time and the worst memory
            f"\nseed {SEED}, {CALLS} calls: {refused} refused, {taken} taken, {len(problems)} problems, "
            f"slowest {slowest:.1f} s, most memory {memory:.0f} MiB"
        )

    assert not problems, "\n".join(problems)
    assert cdk.Names.unique_id(stack) == "Test"
