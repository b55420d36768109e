"""A cluster that is not deployed yet shows whether its last rehearsal speaks for it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.runtime.preflight.preflight_requirements import CLUSTER, ROLLOUT, Client, error, reads_of

from ultracluster_runtime.preflight import rehearsals
from ultracluster_runtime.preflight.check import Outcome, Status, checks_of
from ultracluster_runtime.preflight.run import run_checks

RECORD = {"format": 1, "digest": "abc", "at": "2026-11-22T18:30:00+00:00", "passed": 30, "failures": []}


def outcome(parameter: Any, *, digest: str = "abc", deployed: bool = False) -> Outcome:
    stacks = {"Stacks": [{"StackStatus": "CREATE_COMPLETE"}]} if deployed else error("ValidationError")
    client = Client({"describe_stacks": stacks, "get_parameter": parameter})
    rollout = replace(ROLLOUT, clusters=(replace(CLUSTER, digest=digest),))
    (result,) = run_checks(rollout, reads_of(client), checks=checks_of(rehearsals))
    return result.outcome


def record(**changed: Any) -> dict[str, Any]:
    return {"Parameter": {"Value": json.dumps(RECORD | changed)}}


@pytest.mark.parametrize(
    ("parameter", "digest", "status", "said"),
    [
        (record(), "abc", Status.PASS, "rehearsed on 2026-11-22 18:30 UTC: 30 checks passed"),
        (record(), "", Status.PASS, "30 checks passed"),
        (record(), "xyz", Status.WARN, "as an older version of it"),
        (record(failures=["UC9712 INVALID"]), "abc", Status.WARN, "with failures: UC9712 INVALID"),
        (record(format=2), "abc", Status.WARN, "train was never rehearsed in us-east-2"),
        (error("ParameterNotFound"), "abc", Status.WARN, "train was never rehearsed in us-east-2"),
        (error("AccessDeniedException"), "abc", Status.FAIL, "no answer: AccessDeniedException"),
    ],
)
def test_says_how_the_last_rehearsal_went(parameter: Any, digest: str, status: Status, said: str) -> None:
    found = outcome(parameter, digest=digest)

    assert (found.status, said in found.evidence) == (status, True)


def test_a_deployed_cluster_needs_no_rehearsal() -> None:
    assert outcome(error("ParameterNotFound"), deployed=True).status is Status.SKIP
