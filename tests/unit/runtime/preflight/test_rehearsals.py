"""A cluster that is not deployed yet shows whether its last rehearsal speaks for it."""

import json
from typing import Any

import pytest
from tests.unit.runtime.preflight.preflight_cases import CLUSTER, ROLLOUT, Client, error, reads_of

from ultracluster_runtime.preflight import rehearsals
from ultracluster_runtime.preflight.check import Outcome, Status, checks_of
from ultracluster_runtime.preflight.run import run_checks
from ultracluster_runtime.rollout.rehearsal_record import cluster_digest

RECORD = {
    "format": 1,
    "digest": cluster_digest(CLUSTER),
    "at": "2026-11-22T18:30:00+00:00",
    "passed": 30,
    "failures": [],
}


def outcome(parameter: Any, *, deployed: bool = False) -> Outcome:
    stacks = {"Stacks": [{"StackStatus": "CREATE_COMPLETE"}]} if deployed else error("ValidationError")
    client = Client({"describe_stacks": stacks, "get_parameter": parameter})
    (result,) = run_checks(ROLLOUT, reads_of(client), checks=checks_of(rehearsals))
    return result.outcome


def record(**changed: Any) -> dict[str, Any]:
    return {"Parameter": {"Value": json.dumps(RECORD | changed)}}


@pytest.mark.parametrize(
    ("parameter", "status", "said"),
    [
        (record(failures=["UC9712 INVALID"]), Status.WARN, "with failures: UC9712 INVALID"),
        (error("ParameterNotFound"), Status.WARN, "train was never rehearsed in us-east-2"),
        (error("AccessDeniedException"), Status.FAIL, "no answer: AccessDeniedException"),
    ],
)
def test_says_how_the_last_rehearsal_went(parameter: Any, status: Status, said: str) -> None:
    found = outcome(parameter)

    assert (found.status, said in found.evidence) == (status, True)


def test_a_deployed_cluster_needs_no_rehearsal() -> None:
    assert outcome(error("ParameterNotFound"), deployed=True).status is Status.SKIP
