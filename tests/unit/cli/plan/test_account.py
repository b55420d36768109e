"""A plan asks the account what preflight knows about the clusters that change."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import botocore.exceptions
import pytest
from tests.unit.cli.conftest import Run
from tests.unit.cli.plan.fake_project import TEMPLATE, CloudFormation, edited, write_assembly

pytestmark = pytest.mark.slow

CLUSTER = "quickstart-us-east-2"
BLOCK = "cr-0123456789abcdef0"
GROWS = edited("StorageCapacity", 9600)
NOW = datetime.now(UTC)


class Account(CloudFormation):
    """CloudFormation, and an EC2 that knows one block; all else cannot be asked."""

    def __init__(
        self, *, instances: int = 4, state: str = "active", refused: bool = False, days: int = 3
    ) -> None:
        super().__init__()
        self.refused = refused
        self.block = {
            "CapacityReservationId": BLOCK,
            "State": state,
            "TotalInstanceCount": instances,
            "StartDate": NOW - timedelta(days=5),
            "EndDate": NOW + timedelta(days=days),
            "AvailabilityZoneId": "use2-az3",
            "InstanceType": "trn2.48xlarge",
            "InstancePlatform": "Linux/UNIX",
            "ReservationType": "capacity-block",
        }

    def describe_capacity_reservations(self, **_: Any) -> dict[str, Any]:
        if self.refused:
            said: Any = {"Error": {"Code": "UnauthorizedOperation", "Message": "no"}}
            raise botocore.exceptions.ClientError(said, "DescribeCapacityReservations")
        return {"CapacityReservations": [self.block]}


@pytest.fixture
def plan(run: Run, project: Path, deployed: Callable[[CloudFormation], None]) -> Callable[..., Any]:
    def plan(account: Account, *words: str, template: Any = GROWS, start: str = "") -> Any:
        write_assembly(project / "new", template, cluster=CLUSTER)
        deployed(account)
        if start:
            path = project / "rollout.yaml"
            line = f"reservation_id: {BLOCK}"
            path.write_text(path.read_text().replace(line, f'{line}\n          start: "{start}"', 1))
        return run("plan", *words)

    return plan


def test_what_was_not_asked_is_said_and_nothing_is_called_safe(plan: Callable[..., Any]) -> None:
    outcome = plan(Account())

    assert outcome.code == 5
    assert "Not known to be safe: 1 to update in place" in outcome.stdout
    (line,) = [
        each for each in outcome.stderr.splitlines() if each.startswith("The account could not be asked")
    ]
    assert (
        "whether this holds: The quota for Capacity Blocks is large enough for the rollout (UC9411, " in line
    )


@pytest.mark.parametrize(("instances", "code"), [(4, 0), (2, 3)])
def test_only_what_was_not_asked_passes_by_its_name_and_is_still_not_called_safe(
    plan: Callable[..., Any], instances: int, code: int
) -> None:
    outcome = plan(Account(instances=instances), "--allow", "unanswered")

    assert outcome.code == code
    assert "Safe to deploy" not in outcome.stdout


def test_more_nodes_than_the_block_has_stop_until_they_are_allowed(plan: Callable[..., Any]) -> None:
    outcome = plan(Account(instances=2))

    assert outcome.code == 3
    expected = f"STOP account: {BLOCK}: it holds 2 instances; the cluster needs 4. Set nodes: 2, or reserve more (UC9426)"
    assert f"{expected}. To allow it: --allow account:{CLUSTER}/UC9426" in outcome.stdout


def test_an_allowed_answer_of_the_account_passes(plan: Callable[..., Any]) -> None:
    outcome = plan(Account(instances=2), "--allow", f"account:{CLUSTER}/UC9426")

    assert outcome.code == 5
    assert f"allowed account: {BLOCK}: it holds 2 instances" in outcome.stdout


@pytest.mark.parametrize(
    ("account", "code"), [(Account(state="expired"), "UC9427"), (Account(days=-1), "UC9428")]
)
def test_a_block_that_ended_stops(plan: Callable[..., Any], account: Account, code: str) -> None:
    outcome = plan(account)

    assert outcome.code == 3
    assert f"({code})" in outcome.stdout


def test_a_start_in_the_future_is_not_believed_while_the_block_runs(plan: Callable[..., Any]) -> None:
    outcome = plan(Account(), template=TEMPLATE, start="2030-01-01T12:00:00Z")

    assert outcome.code == 3
    assert "the rollout says 2030-01-01T12:00Z" in outcome.stdout


def test_a_block_that_runs_is_not_idle_though_the_rollout_says_so(plan: Callable[..., Any]) -> None:
    def given(timeout: int) -> dict[str, Any]:
        properties = {"Timeout": timeout, "Environment": {"Variables": {"UC_RESERVATION_ID": BLOCK}}}
        return {"Resources": {"Drain": {"Type": "AWS::Lambda::Function", "Properties": properties}}}

    account = Account()
    account.template = given(120)
    outcome = plan(account, template=given(60), start="2030-01-01T12:00:00Z")

    assert "STOP control: Timeout: 120 -> 60: the function has less time to do its work" in outcome.stdout


def test_nothing_about_the_account_stops_a_cluster_that_does_not_change(plan: Callable[..., Any]) -> None:
    outcome = plan(Account(instances=2), template=TEMPLATE)

    assert outcome.code == 0
    assert "Nothing changes" in outcome.stdout


def test_a_refused_question_is_no_answer(plan: Callable[..., Any]) -> None:
    outcome = plan(Account(refused=True))

    assert outcome.code == 5
    assert (
        "The reservation is visible to the account (UC9422, no answer: UnauthorizedOperation"
        in outcome.stderr
    )


class Imports(Account):
    """An account with an imported role that may submit jobs; of others IAM says nothing."""

    def get_role(self, **_: Any) -> dict[str, Any]:
        return {"Role": {"Arn": "arn:aws:iam::123456789012:role/own"}}

    def get_paginator(self, operation: str) -> Any:
        return SimpleNamespace(paginate=lambda **parameters: [getattr(self, operation)(**parameters)])

    def simulate_principal_policy(self, **asked: Any) -> dict[str, Any]:
        if self.refused:
            said: Any = {"Error": {"Code": "AccessDenied", "Message": "no"}}
            raise botocore.exceptions.ClientError(said, "SimulatePrincipalPolicy")
        decisions = [{"EvalResourceDecision": "allowed"}]
        return {
            "EvaluationResults": [
                {
                    "EvalActionName": action,
                    "ResourceSpecificResults": decisions if action == "batch:SubmitJob" else [],
                }
                for action in asked["ActionNames"]
            ]
        }


def test_a_submitter_of_another_account_stops(plan: Callable[..., Any], project: Path) -> None:
    path = project / "rollout.yaml"
    path.write_text(f"{path.read_text()}        submitters: ['arn:aws:iam::999999999999:role/own']\n")

    outcome = plan(Imports())

    assert outcome.code == 3
    own = "the role of this name is arn:aws:iam::123456789012:role/own, which would get the permission to submit jobs"
    assert own in outcome.stdout


@pytest.mark.parametrize("refused", [False, True])
def test_an_imported_role_is_simulated_and_stops_or_is_unknown(
    plan: Callable[..., Any], refused: bool
) -> None:
    template = edited("StorageCapacity", 9600)
    role = "arn:aws:iam::123456789012:role/own"
    template["Resources"]["Job"] = {
        "Type": "AWS::Batch::JobDefinition",
        "Properties": {"ContainerProperties": {"JobRoleArn": role}},
    }
    outcome = plan(Imports(refused=refused), template=template)

    stop = "STOP account: own: Job gets this imported role, which starts what is paid (batch:SubmitJob)"
    assert (stop in outcome.stdout) is not refused
    assert ("UC9470, no answer: AccessDenied" in outcome.stderr) is refused
    assert f"--allow account:{CLUSTER}/UC9470" in outcome.stdout or refused


def test_a_saved_assembly_is_compared_without_the_account(run: Run, project: Path) -> None:
    write_assembly(project / "new", GROWS)

    assert "The account is not asked" in run("plan", "--against", "old").stderr
