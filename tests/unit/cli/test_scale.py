import json
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


def test_prints_the_report(run: Run) -> None:
    outcome = run("scale", "--chips", "2048", "--regions", "us-east-2, ap-south-2")

    assert outcome.code == 0
    assert outcome.stdout.startswith("# 2,048 chips of trn2.48xlarge\n")
    assert "us-east-2, ap-south-2 and 1 account." in outcome.stdout


def test_an_assumption_is_replaced_and_the_report_says_so(run: Run) -> None:
    told = json.loads(
        run(
            "scale",
            "--chips",
            "64",
            "--assume",
            "failures_per_chip_day=0",
            "--assume",
            "block_days=7",
            "--json",
        ).stdout
    )

    assert told["assumptions"]["failures_per_chip_day"]["value"] == 0
    assert told["assumptions"]["block_days"]["value"] == 7
    assert sum(day["failures"] for day in told["days"]) == 0


@pytest.mark.parametrize("given", ["failures=1", "block_days", "block_days=half", "queues_per_cluster=1.5"])
def test_refuses_an_assumption_that_it_does_not_know(run: Run, given: str) -> None:
    outcome = run("scale", "--chips", "64", "--assume", given)

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC9644")
