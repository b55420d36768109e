"""Preflight checks that are replaced."""

from collections.abc import Callable
from typing import Any

import pytest

from ultracluster_cli.preflight import command as preflight_run
from ultracluster_runtime.preflight.check import passed
from ultracluster_runtime.preflight.run import CheckResult
from ultracluster_runtime.preflight.subjects import Account


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the checks were asked for; each outcome under `outcomes` is told as one check's."""
    record: dict[str, Any] = {"outcomes": [passed("good")]}

    def run_checks(
        needs: Account, _: object, *, skip: set[str], on_result: Callable[[CheckResult], None]
    ) -> list[CheckResult]:
        record["clusters"] = [cluster.name for cluster in needs.clusters]
        record["skip"] = skip
        record["qualifier"] = needs.qualifier
        record["ledger"] = needs.ledger
        results = [
            CheckResult(code=f"UC940{index}", key=("us-east-2",), outcome=outcome)
            for index, outcome in enumerate(record["outcomes"], start=1)
        ]
        for result in results:
            on_result(result)
        return results

    monkeypatch.setattr(preflight_run, "run_checks", run_checks)
    return record
