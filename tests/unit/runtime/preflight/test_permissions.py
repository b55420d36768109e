"""Evaluation of service-linked roles, and of the permissions of the bootstrap roles."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.runtime.preflight.preflight_requirements import (
    CLUSTER,
    REGION,
    ROLLOUT,
    SOURCE,
    Client,
    bought,
    error,
    reads_of,
)

from ultracluster_runtime.preflight import permissions
from ultracluster_runtime.preflight.check import Status, checks_of
from ultracluster_runtime.preflight.permissions import role_actions
from ultracluster_runtime.preflight.requirements import RegionRequirements, RolloutRequirements

BATCH, SPOT, LUSTRE, ASSUME, CREATE = checks_of(permissions)
ROOT = {"Account": "123456789012", "Arn": "arn:aws:iam::123456789012:root"}
SESSION = {"Account": "123456789012", "Arn": "arn:aws:sts::123456789012:assumed-role/admin/me"}


@pytest.mark.parametrize(("exists", "status"), [(True, Status.PASS), (False, Status.WARN)])
@pytest.mark.parametrize("check", [BATCH, LUSTRE], ids=["batch", "fsx"])
def test_role_that_its_service_creates_is_only_a_warning(check: Any, exists: bool, status: Status) -> None:
    assert check.evaluate(ROLLOUT, exists).status is status


def test_missing_role_for_spot_fails() -> None:
    outcome = SPOT.evaluate(
        ROLLOUT, SPOT.gather(reads_of(Client({"get_role": error("NoSuchEntity")})), ROLLOUT)
    )

    assert outcome.status is Status.FAIL
    assert "--aws-service-name spot.amazonaws.com" in outcome.remedy


def test_role_for_spot_is_checked_only_for_spot() -> None:
    spot = replace(CLUSTER, sources=(bought(market_type="spot"),))

    assert list(SPOT.subjects(ROLLOUT)) == []
    assert len(list(SPOT.subjects(RolloutRequirements(clusters=(CLUSTER, spot))))) == 1


def simulated(*decisions: str) -> dict[str, Any]:
    results = [{"EvalActionName": "sts:AssumeRole", "EvalDecision": decision} for decision in decisions]
    return {"EvaluationResults": results}


@pytest.mark.parametrize(
    ("decisions", "status"),
    [
        (("allowed", "allowed", "allowed"), Status.PASS),
        (("allowed", "implicitDeny", "allowed"), Status.FAIL),
        (("explicitDeny",), Status.FAIL),
    ],
)
def test_every_bootstrap_role_must_be_assumable(decisions: tuple[str, ...], status: Status) -> None:
    client = Client(
        {
            "get_caller_identity": SESSION,
            "get_role": {"Role": {"Arn": "arn:aws:iam::123456789012:role/path/admin"}},
            "simulate_principal_policy": simulated(*decisions),
        }
    )
    principal, found = ASSUME.gather(reads_of(client), REGION)

    assert principal == "arn:aws:iam::123456789012:role/path/admin"
    assert ASSUME.evaluate(REGION, (principal, found)).status is status


def test_root_user_is_not_simulated() -> None:
    client = Client({"get_caller_identity": ROOT})

    assert ASSUME.evaluate(REGION, ASSUME.gather(reads_of(client), REGION)).status is Status.PASS
    assert client.asked == ["get_caller_identity"]


@pytest.mark.parametrize(
    ("decisions", "status"),
    [
        ({"s3:CreateBucket": "allowed"}, Status.PASS),
        ({"s3:CreateBucket": "implicitDeny"}, Status.FAIL),
        (None, Status.FAIL),
    ],
)
def test_role_of_cloudformation_must_be_allowed_to_create_all(
    decisions: dict[str, str] | None, status: Status
) -> None:
    assert CREATE.evaluate(REGION, ("arn:aws:iam::123456789012:role/exec", decisions)).status is status


@pytest.mark.parametrize(
    ("changes", "action"),
    [
        ({"new_vpc": True}, "ec2:CreateVpc"),
        ({"file_system": None}, "fsx:CreateFileSystem"),
        ({"sources": (SOURCE,)}, "lambda:CreateFunction"),
    ],
)
def test_actions_depend_on_what_the_clusters_create(changes: dict[str, Any], action: str) -> None:
    existing: Any = object()
    plain: dict[str, Any] = {
        "new_vpc": False,
        "file_system": existing,
        "sources": (bought(market_type="on-demand"),),
    }

    def actions(**values: Any) -> frozenset[str]:
        cluster = replace(CLUSTER, **plain | values)
        return role_actions(RegionRequirements(region="us-east-2", clusters=(cluster,), qualifier="q"))

    assert action in actions(**changes)
    assert action not in actions()
    assert "batch:CreateJobQueue" in actions()
