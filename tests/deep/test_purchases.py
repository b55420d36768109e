"""Purchases over HTTP in large: every fault at every call, random lives, schedules of two buyers, and kill -9."""

from collections.abc import Iterator

import pytest
from tests.deep.conftest import Tried
from tests.unit.runtime.purchasing.http_world import (
    FAULTS,
    HttpWorld,
    begin,
    buy_and_kill,
    command_line,
    random_http_life,
    random_http_schedule,
    run,
    running_http_world,
    strike_http_call,
)

from ultracluster_runtime.purchasing.purchase import buy

pytestmark = [pytest.mark.deep, pytest.mark.slow]

LIVES, SCHEDULES = 2000, 500


@pytest.fixture
def world() -> Iterator[HttpWorld]:
    with running_http_world() as running:
        yield running


def test_random_lives(world: HttpWorld, tried: Tried) -> None:
    faults = sum(random_http_life(world, seed) for seed in range(LIVES))
    tried(
        "purchases", f"{LIVES:,} lives over HTTP with {faults:,} faults: 0 double, above a cap or unrecorded"
    )


def test_random_schedules_of_two_buyers(world: HttpWorld, tried: Tried) -> None:
    for seed in range(SCHEDULES):
        random_http_schedule(world, seed)
    tried("purchases", f"{SCHEDULES} schedules of two buyers over HTTP: 0 double, above a cap or unrecorded")


def test_every_fault_at_every_call(world: HttpWorld, tried: Tried) -> None:
    begin(world)
    run(world, buy("december", nonce="n"))
    calls = list(world.calls)
    cases = [
        (call, occurrence, fault)
        for call in dict.fromkeys(calls)
        for occurrence in range(calls.count(call))
        for fault in FAULTS
    ]
    for case in cases:
        strike_http_call(world, *case)
    tried(
        "purchases",
        f"{len(cases)} faults, each at each of {len(calls)} calls: 0 double, above a cap or unrecorded",
    )


def test_command_line_killed_at_every_request(world: HttpWorld, tried: Tried) -> None:
    (name,) = begin(world)
    child = command_line(name)
    _, stderr = child.communicate(timeout=120)
    assert child.returncode == 0, stderr
    requests = len(world.calls)  # the command line also reads the last rehearsal
    for number in range(1, requests + 1):
        for after in (False, True):
            buy_and_kill(world, number, after=after)
    tried(
        "purchases",
        f"{requests * 2} command lines ended by kill -9 and run again: 1 purchase at most, each recorded",
    )
