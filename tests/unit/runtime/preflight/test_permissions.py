"""Evaluation of service-linked roles, and of the permissions of the bootstrap roles."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.runtime.preflight.preflight_cases import (
    CLUSTER,
    REGION,
    ROLLOUT,
    Client,
    bought,
    reads_of,
)

from ultracluster_runtime.preflight import permissions
from ultracluster_runtime.preflight.check import Status, checks_of
from ultracluster_runtime.preflight.permissions import role_actions
from ultracluster_runtime.preflight.subjects import Account, Region
from ultracluster_spec.file_system import FileSystem
from ultracluster_spec.network import Network

_, SPOT, _, _, ASSUME, CREATE = checks_of(permissions)
ROOT = {"Account": "123456789012", "Arn": "arn:aws:iam::123456789012:root"}
SESSION = {"Account": "123456789012", "Arn": "arn:aws:sts::123456789012:assumed-role/admin/me"}


def test_role_for_spot_is_checked_only_for_spot() -> None:
    spot = bought(market_type="spot", reservation_id=None)

    assert list(SPOT.subjects(ROLLOUT)) == []
    assert len(list(SPOT.subjects(Account(clusters=(CLUSTER, spot))))) == 1


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


def test_a_role_of_cloudformation_that_is_not_there_fails() -> None:
    assert CREATE.evaluate(REGION, ("arn:aws:iam::123456789012:role/exec", None)).status is Status.FAIL


@pytest.mark.parametrize(
    ("changes", "action"),
    [
        ({"network": Network()}, "ec2:CreateVpc"),
        ({"file_system": FileSystem()}, "fsx:CreateFileSystem"),
        ({"capacity": CLUSTER.capacity}, "lambda:CreateFunction"),
    ],
)
def test_actions_depend_on_what_the_clusters_create(changes: dict[str, Any], action: str) -> None:
    plain: dict[str, Any] = {
        "network": Network(vpc_id="vpc-1", subnet_id="subnet-1"),
        "file_system": FileSystem(file_system_id="fs-1", mount_name="abc"),
        "capacity": bought(market_type="on-demand").capacity,
    }

    def actions(**values: Any) -> frozenset[str]:
        cluster = replace(CLUSTER, **plain | values)
        return role_actions(Region(name="us-east-2", clusters=(cluster,), qualifier="q"))

    assert action in actions(**changes)
    assert action not in actions()
    assert "batch:CreateJobQueue" in actions()
