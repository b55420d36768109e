"""Every Lambda function, with every AWS call failing in every way.

Whatever fails, a function raises, so that Lambda's retry or the next wake-up tries again, or it goes on. In the end
everything is as if nothing had failed, nothing else was touched, and nothing secret was said.
"""

import ast
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from tests.golden.configurations import configurations
from tests.golden.synthesis import stacks_of
from tests.unit.runtime.lifecycle.lifecycle_aws import FAULTS, QUEUE, RESERVATION, FakeAws, cluster
from tests.unit.runtime.purchasing.ec2_fixtures import answered_offering
from tests.unit.runtime.resume.resume_aws import NOW, ResumeAws, drained

from ultracluster_runtime.functions import close_queues
from ultracluster_runtime.lifecycle import handler as life_cycle
from ultracluster_runtime.lifecycle.state import LifecycleState
from ultracluster_runtime.resume import handler as resume
from ultracluster_runtime.watch import handler as watch
from ultracluster_runtime.watch import offerings, weekly_report

pytestmark = pytest.mark.slow  # boto3 needs a second for its clients, and every call fails in every way

ROOT = Path(__file__).parents[4]
SECRET = "not-to-be-said-0123456789abcdef"
SECOND = QUEUE.replace("training", "urgent")
TAG = "ultracluster:closed-by-budget"
# The latter in a block whose nodes a group starts: test_scenarios.py of the life cycle.
OPTIONAL = {"UC_ADDITIONAL_JOB_QUEUES", "UC_AUTO_SCALING_GROUP", "UC_METRICS_LOG_GROUP", "UC_SICK_NODES"}
ECS_CLUSTER = "Custom::UltraClusterEcsCluster"
STANDING_ORDER = {
    "watch": "Capacity/Watch",
    "instance_type": "trn2.48xlarge",
    "counts": [1],
    "hours": 24,
    "start_after": "2026-01-01T00:00:00+00:00",
    "start_before": "9999-01-01T00:00:00+00:00",
    "regions": ["us-east-2"],
    "max_usd": 1000,
    "until": "9999-01-01T00:00:00+00:00",
}
READS = ("Describe", "List", "Get", "Scan")


class WatchedAws(FakeAws):
    """What the watch sees: a block with two nodes, jobs in two queues, steps."""

    def _DescribeCapacityReservations(self, asked: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        found = super()._DescribeCapacityReservations(asked)
        return {
            "CapacityReservations": [
                each | {"AvailableInstanceCount": 1} for each in found["CapacityReservations"]
            ]
        }

    def _DescribeInstances(self, asked: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        assert {each["Name"] for each in asked["Filters"]} == {
            "iam-instance-profile.arn",
            "instance-state-name",
        }
        return {"Reservations": [{"Instances": [{"LaunchTime": datetime(2026, 12, 1, tzinfo=UTC)}]}]}

    def _ListJobs(self, asked: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        assert asked["jobQueue"] in {QUEUE, SECOND}
        return {"jobSummaryList": [{"jobId": "j", "jobName": "train", "createdAt": 1, "startedAt": 2}]}

    def _GetMetricData(self, _: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        return {"MetricDataResults": [{"Id": "m0", "Timestamps": [datetime.now(UTC)], "Values": [1.5]}]}


class MarketAws(FakeAws):
    """A market with one offering, which nobody has seen before."""

    def _DescribeCapacityBlockOfferings(self, asked: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        offering = answered_offering(
            datetime.now(UTC) + timedelta(days=2), InstanceCount=asked["InstanceCount"], UpfrontFee="858"
        )
        return {"CapacityBlockOfferings": [offering]}

    def _GetMetricData(self, _: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        return {"MetricDataResults": [{"Id": "m0", "Timestamps": [], "Values": []}]}


class EndedAws(FakeAws):
    """A block of two nodes that ended yesterday, all of whose metrics have one value."""

    end = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=1)

    def __init__(self) -> None:
        super().__init__()
        start = self.end - timedelta(days=1)
        self.reservations[RESERVATION] |= {"StartDate": start, "EndDate": self.end}

    def _ListMetrics(self, _: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        return {"Metrics": [{"Dimensions": [{"Name": "Job", "Value": "train"}]}]}

    def _GetMetricData(self, asked: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        assert asked["EndTime"] == self.end
        times = [asked["StartTime"] + timedelta(minutes=minute) for minute in range(3)]
        found = [
            {"Id": each["Id"], "Timestamps": times, "Values": [2.0] * len(times)}
            for each in asked["MetricDataQueries"]
        ]
        return {"MetricDataResults": found}


class BudgetAws(FakeAws):
    """Two queues with their tags, and another one that is nobody's business."""

    def __init__(self) -> None:
        super().__init__()
        self.states = {QUEUE: "ENABLED", SECOND: "ENABLED", "another": "ENABLED"}
        self.tagged: set[str] = set()

    def _TagResource(self, asked: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        assert set(asked["tags"]) == {TAG}
        self.tagged.add(asked["resourceArn"])
        return {}

    def _UpdateJobQueue(self, asked: Mapping[str, Any]) -> dict[str, Any]:  # noqa: N802
        assert asked["jobQueue"] in self.tagged  # or the life cycle of a block would open it again
        self.states[asked["jobQueue"]] = asked["state"]
        return {}


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function.

    Attributes:
        aws: Makes the AWS that it finds.
        variables: Its environment.
        result: What must be the same in the end, whatever failed on the way.
        run: Calls its handler, with clients of an AWS.
        may: The calls that change something.
    """

    aws: Callable[[], Any]
    variables: Mapping[str, str]
    result: Callable[[Any], object]
    run: Callable[[Any, pytest.MonkeyPatch], None]
    may: frozenset[str]


def _ending() -> FakeAws:
    """A block whose drain has begun: the most that the life cycle ever does at once."""
    aws = FakeAws()
    start = datetime.now(UTC) - timedelta(days=1)
    end = datetime.now(UTC) + timedelta(minutes=30)
    aws.reservations[RESERVATION] |= {"StartDate": start, "EndDate": end}
    aws.parameter = (
        LifecycleState(reservation_id=RESERVATION).with_block(start=start, end=end, instances=2).to_json()
    )
    return aws


def _life_cycle(aws: FakeAws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(life_cycle, "_CLIENTS", aws.clients)
    life_cycle.handler({"detail": SECRET}, SimpleNamespace(aws_request_id=f"request-{len(aws.calls)}"))


def _watch(aws: FakeAws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "_CLIENTS", aws.clients)
    watch.handler({"detail": SECRET}, None)


def _look(aws: FakeAws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offerings, "_CLIENTS", aws.clients)
    offerings.handler({"detail": SECRET}, None)


def _report(aws: FakeAws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-2")  # Lambda sets it
    monkeypatch.setattr(weekly_report, "_CLIENTS", aws.clients)
    weekly_report.handler({"detail": SECRET}, None)


def _close(aws: FakeAws, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boto3, "client", aws.client)
    close_queues.handler({"Records": [{"Sns": {"Message": SECRET}}]}, None)


def _resume(aws: ResumeAws, monkeypatch: pytest.MonkeyPatch) -> None:
    # Ten minutes later each time: a lease has ended, and an unconfirmed submission is looked up.
    aws.minutes += 10
    clock = SimpleNamespace(now=lambda _: NOW + timedelta(minutes=aws.minutes))
    monkeypatch.setattr(resume, "datetime", clock)
    monkeypatch.setattr(resume, "_CLIENTS", aws.clients)
    resume.handler({"detail": SECRET}, SimpleNamespace(aws_request_id=f"request-{len(aws.calls)}"))


_CLUSTER = cluster()
FUNCTIONS = {
    "ultracluster_runtime.lifecycle.handler.handler": Function(
        aws=_ending,
        variables={
            "UC_RESERVATION_ID": _CLUSTER.reservation_id,
            "UC_COMPUTE_ENVIRONMENT": _CLUSTER.compute_environment,
            "UC_JOB_QUEUE": _CLUSTER.job_queue,
            "UC_TOPIC": _CLUSTER.topic,
            "UC_STATE_TABLE": _CLUSTER.state_table,
            "UC_MAX_REFUSALS": "3",
            "UC_CHECKPOINT_LEAD_SECONDS": "1200",
        },
        result=lambda aws: (
            {arn: shown["state"] for arn, shown in aws.environments.items()},
            aws.queue_state,
            set(aws.terminated),
            {each["Subject"].partition(":")[0] for each in aws.published},
        ),
        run=_life_cycle,
        may=frozenset(
            {
                "UpdateComputeEnvironment",
                "UpdateJobQueue",
                "TerminateJob",
                "Publish",
                "SendCommand",
                "UpdateItem",
            }
        ),
    ),
    "ultracluster_runtime.resume.handler.handler": Function(
        aws=lambda: ResumeAws(drained()),
        variables={
            "UC_JOB_QUEUES": QUEUE,
            "UC_STATE_TABLE": "endings",
            "UC_TOPIC": "arn:aws:sns:us-east-2:1:t",
        },
        result=lambda aws: (
            len(aws.submitted),
            any(each["Subject"].startswith("Job pretrain goes on") for each in aws.published),
        ),
        run=_resume,
        may=frozenset({"PutItem", "UpdateItem", "SubmitJob", "Publish"}),
    ),
    "ultracluster_runtime.watch.handler.handler": Function(
        aws=WatchedAws,
        variables={
            "UC_CLUSTER": "pretrain",
            "UC_JOB_QUEUES": f"{QUEUE},{SECOND}",
            "UC_RESERVATIONS": RESERVATION,
            "UC_INSTANCE_PROFILES": "arn:aws:iam::123456789012:instance-profile/nodes",
            "UC_WITHOUT_RESERVATION": "no",
        },
        result=lambda _: None,
        run=_watch,
        may=frozenset(),
    ),
    "ultracluster_runtime.watch.offerings.handler": Function(
        aws=MarketAws,
        variables={
            "UC_STANDING_ORDER": json.dumps(STANDING_ORDER),
            "UC_TOPIC_ARN": "arn:aws:sns:us-east-2:1:t",
        },
        result=lambda aws: {each["Subject"] for each in aws.published},
        run=_look,
        may=frozenset({"Publish"}),
    ),
    "ultracluster_runtime.watch.weekly_report.handler": Function(
        aws=EndedAws,
        variables={
            "UC_CLUSTER": "pretrain",
            "UC_RESERVATIONS": RESERVATION,
            "UC_NODE_HOUR_USD": "35.7608",
            "UC_TOPIC_ARN": "arn:aws:sns:us-east-2:1:t",
        },
        result=lambda aws: aws.published[-1],
        run=_report,
        may=frozenset({"Publish"}),
    ),
    "index.handler": Function(
        aws=BudgetAws,
        variables={
            "UC_JOB_QUEUES": f"{QUEUE},{SECOND}",
            "UC_TOPIC": "arn:aws:sns:us-east-2:1:t",
            "UC_CLOSED_TAG": TAG,
        },
        result=lambda aws: (aws.states, aws.tagged, {each["Subject"] for each in aws.published}),
        run=_close,
        may=frozenset({"TagResource", "UpdateJobQueue", "Publish"}),
    ),
}


def _functions_of_templates() -> Iterator[dict[str, Any]]:
    for name in configurations():
        for stack in stacks_of(name):
            for resource in stack.resources.values():
                if resource["Type"] == "AWS::Lambda::Function":
                    yield resource["Properties"]
                # Any other custom resource would bring a function that is not tested.
                assert resource["Type"] == ECS_CLUSTER or not resource["Type"].startswith("Custom::")
                assert resource["Type"] != "AWS::CloudFormation::CustomResource"


def test_every_function_in_the_templates_is_tested() -> None:
    # It answers CloudFormation instead of raising: test_ecs_cluster.py.
    answering = "ultracluster_runtime.functions.ecs_cluster.handler"
    found = [each for each in _functions_of_templates() if each["Handler"] != answering]

    assert {each["Handler"] for each in found} == set(FUNCTIONS)
    inline = {each["Code"]["ZipFile"] for each in found if each["Handler"] == "index.handler"}
    assert inline == {Path(close_queues.__file__).read_text()}
    for each in found:
        given = set(FUNCTIONS[each["Handler"]].variables)
        # Jobs are resumed also where nobody is notified.
        always = given - {"UC_TOPIC"} if "resume" in each["Handler"] else given
        assert always <= set(each["Environment"]["Variables"]) <= given | OPTIONAL


def test_no_other_construct_makes_a_function() -> None:
    trees = {
        path.stem: ast.parse(path.read_text()) for path in (ROOT / "constructs/ultracluster").rglob("*.py")
    }
    makes = {
        name
        for name, tree in trees.items()
        for node in ast.walk(tree)
        for used in ([node.func] if isinstance(node, ast.Call) else getattr(node, "bases", []))
        if isinstance(used, ast.Attribute)  # called, or the base of a construct
        and used.attr in {"Function", "CfnFunction", "SingletonFunction", "DockerImageFunction"}
    }
    uses = {
        name
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "ultracluster._foundation.scheduled_function"
    }
    assert (makes, uses) == (
        {"scheduled_function"},
        {
            "block_lifecycle",
            "capacity_watch",
            "cluster_budget",
            "cluster_watch",
            "job_resume",
            "unmanaged_environment",
            "weekly_report",
        },
    )


def chosen(name: str, monkeypatch: pytest.MonkeyPatch) -> Function:
    function = FUNCTIONS[name]
    secrets = {"AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": SECRET}
    for variable, value in {**function.variables, **secrets}.items():
        monkeypatch.setenv(variable, value)
    return function


@pytest.fixture(params=FUNCTIONS)
def function(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Function:
    return chosen(request.param, monkeypatch)


def test_any_call_can_fail_in_any_way(
    function: Function,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG, "ultracluster_runtime")
    undisturbed = function.aws()
    function.run(undisturbed, monkeypatch)
    expected, calls = function.result(undisturbed), list(undisturbed.calls)
    raised: list[str] = []
    for number in range(len(calls)):
        for fault in FAULTS:
            aws = function.aws()
            aws.faults = {number: fault}
            capsys.readouterr()
            try:
                function.run(aws, monkeypatch)
            except Exception as error:  # noqa: BLE001 - whatever it is, Lambda counts it and tries again
                raised.append(repr(error))
                assert '"_aws"' not in capsys.readouterr().out, "half a look was published"
            aws.faults = {}
            function.run(aws, monkeypatch)
            assert function.result(aws) == expected, f"{fault} at {calls[number]}"
            function.run(aws, monkeypatch)
            assert function.result(aws) == expected, f"{fault} at {calls[number]}, and once more"
            changes = {call for call in aws.calls if not call.startswith(READS)}
            assert changes <= function.may

    assert len(raised) >= len(calls)  # the faults do arrive
    assert SECRET not in "".join([*raised, caplog.text, *capsys.readouterr()])


def test_people_hear_of_a_resume_by_the_topic_of_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    function = chosen("ultracluster_runtime.resume.handler.handler", monkeypatch)
    aws = function.aws()
    function.run(aws, monkeypatch)

    assert [each["TopicArn"] for each in aws.published] == [function.variables["UC_TOPIC"]]


def test_people_hear_which_tag_keeps_queues_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    function = chosen("index.handler", monkeypatch)
    aws = BudgetAws()
    function.run(aws, monkeypatch)

    (told,) = aws.published
    assert told["TopicArn"] == function.variables["UC_TOPIC"]
    assert TAG in told["Message"]


def test_failure_to_close_a_queue_does_not_keep_others_open(monkeypatch: pytest.MonkeyPatch) -> None:
    function = chosen("index.handler", monkeypatch)
    aws = BudgetAws()
    aws.faults = {0: "denied"}
    with pytest.raises(RuntimeError, match="training"):
        function.run(aws, monkeypatch)

    assert aws.states == {QUEUE: "ENABLED", SECOND: "DISABLED", "another": "ENABLED"}
    assert aws.published == []
