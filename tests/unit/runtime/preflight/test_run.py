"""Running checks: dependencies, failures and the deadline."""

import threading
import time
from dataclasses import replace
from typing import Any

from tests.unit.runtime.preflight.preflight_cases import (
    CLUSTER,
    Client,
    error,
    make,
    reads_of,
    run,
    statuses,
)

from ultracluster_runtime.preflight.check import (
    Check,
    Status,
    failed,
    passed,
    warned,
)
from ultracluster_runtime.preflight.run import run_checks
from ultracluster_runtime.preflight.subjects import Account


def test_checks_after_a_failed_check_are_skipped() -> None:
    first = make("UC9401", failed("no", "do"))
    rest = (
        make("UC9404", passed("yes"), after=("UC9401",)),
        make("UC9405", passed("yes"), after=("UC9404",)),
    )
    results = run(first, *rest)
    assert statuses(results) == [Status.FAIL, Status.SKIP, Status.SKIP]
    assert results[2].outcome.evidence == "waits for UC9404"
    assert statuses(run(make("UC9401", warned("so", "do")), *rest)) == [Status.WARN, Status.PASS, Status.PASS]


def test_skipped_checks_block_no_other_checks() -> None:
    first, second = make("UC9401", failed("no", "do")), make("UC9404", passed("yes"), after=("UC9401",))
    assert statuses(run(first, second, skip=("UC9401",))) == [Status.SKIP, Status.PASS]


def test_failure_in_one_region_does_not_block_another() -> None:
    other = replace(CLUSTER, region="us-east-1", name="other")
    rollout = Account(clusters=(CLUSTER, other))
    first: Check[Any, Any] = Check(
        code="UC9404",
        subjects=Account.regions,
        gather=lambda _, region: region.name,
        evaluate=lambda _, region: passed("on") if region == "us-east-1" else failed("off", "do"),
    )
    second = make("UC9405", passed("yes"), after=("UC9404",))
    results = run_checks(rollout, reads_of(Client({})), checks=(first, second))
    assert {(r.code, r.subject, r.outcome.status) for r in results} == {
        ("UC9404", "us-east-1", Status.PASS),
        ("UC9404", "us-east-2", Status.FAIL),
        ("UC9405", "us-east-1", Status.PASS),
        ("UC9405", "us-east-2", Status.SKIP),
    }


def test_refusal_names_the_permissions_and_an_unexpected_error_fails_one_check_only() -> None:
    refused = make("UC9401", error("AccessDenied", "DescribeSubnets"))
    surprised = make("UC9404", ZeroDivisionError("x"))
    first, second = (result.outcome for result in run(refused, surprised))
    assert (first.status, first.evidence) == (Status.FAIL, "no answer: AccessDenied: no")
    assert first.remedy == "Allow ec2:DescribeSubnets, or skip this check: --skip UC9401"
    assert (second.status, second.evidence) == (
        Status.FAIL,
        "unexpected response of AWS: ZeroDivisionError: x",
    )


def test_hanging_calls_end_at_the_deadline() -> None:
    never = threading.Event()
    hanging: Check[Any, Any] = replace(
        make("UC9401", passed("yes")), gather=lambda _, __: never.wait(30) and None
    )
    began = time.monotonic()
    results = run(hanging, make("UC9404", passed("yes")), seconds=0.2)
    never.set()
    assert time.monotonic() - began < 5
    assert statuses(results) == [Status.FAIL, Status.PASS]
    assert "deadline" in results[0].outcome.evidence
