"""What stops a deployment, in which words, and which word allows it: one resource in a stack of its own."""

from typing import Any

import pytest
from tests.unit.stacks.plan.edits import read

from ultracluster_stacks.plan import Action, StackTemplate, compare
from ultracluster_stacks.plan.changes import ResourceChange

FILE_SYSTEM = "AWS::FSx::FileSystem"
ENVIRONMENT = "AWS::Batch::ComputeEnvironment"
KEPT = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
GONE: dict[str, Any] = {}
ROWS = read("single")

IN_BLOCK = "jobs that run in its Capacity Block end; waiting jobs stay in the queue"
NO_ROOM = (
    "a Capacity Block has no room for new nodes beside old ones, so that the deployment waits for running jobs to end, times "
    "out and rolls back"
)


def resource(kind: str, properties: Any = None, **life: Any) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties or {}, **life}


def file_system(**properties: Any) -> dict[str, Any]:
    return resource(FILE_SYSTEM, {"StorageCapacity": 4800, **properties}, **KEPT)


def environment(image: str = "ami-1", **properties: Any) -> dict[str, Any]:
    resources = {"AllocationStrategy": "BEST_FIT_PROGRESSIVE", "ImageId": image, "MaxvCpus": 192}
    own = {"ReplaceComputeEnvironment": False, "ComputeResources": resources}
    return resource(ENVIRONMENT, own | properties)


def queue(**properties: Any) -> dict[str, Any]:
    return resource("AWS::Batch::JobQueue", {"Priority": 1, **properties})


def change(before: dict[str, Any], after: dict[str, Any]) -> ResourceChange:
    """The one change when resource R of stack `s` becomes another one; GONE is no resource."""

    def stack(one: dict[str, Any]) -> StackTemplate:
        resources = {"R": one} if one else {}
        template = {"Resources": resources, "Conditions": {"Sometimes": {}}}
        paths = dict.fromkeys(resources, "c/s/R/Resource")
        return StackTemplate(cluster="c", name="s", region="us-east-2", template=template, paths=paths)

    (found,) = compare([stack(before)], [stack(after)]).stacks[0].changes
    return found


def environment_for(minutes: Any = None, *, at_once: Any = None, image: str = "ami-1") -> dict[str, Any]:
    given = {"JobExecutionTimeoutMinutes": minutes, "TerminateJobsOnUpdate": at_once}
    return environment(
        image, UpdatePolicy={name: value for name, value in given.items() if value is not None}
    )


@pytest.mark.parametrize("row", ROWS["stops"], ids=lambda row: row["stops"][0][-1])
def test_says_what_would_happen_and_which_word_allows_it(row: dict[str, Any]) -> None:
    stops = change(row["before"], row["after"]).stops

    assert sorted([str(one.kind), one.allow, one.reason] for one in stops) == sorted(row["stops"])


@pytest.mark.parametrize("row", ROWS["passes"], ids=lambda row: str(row["after"]))
def test_lets_pass_what_harms_nothing(row: dict[str, Any]) -> None:
    assert change(row["before"], row["after"]).stops == ()


BLOCK_TEMPLATE = {
    "InstanceMarketOptions": {"MarketType": "capacity-block"},
    "CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": "cr-1"}},
}


def change_in_block(environment: dict[str, Any], data: dict[str, Any], *idle: str) -> ResourceChange:
    """The change of an environment when its launch template gets another image."""

    def stack(image: str) -> StackTemplate:
        launched = {"ImageId": image, **data}
        resources = {
            "T": resource("AWS::EC2::LaunchTemplate", {"LaunchTemplateData": launched}),
            "R": environment,
        }
        paths = dict.fromkeys(resources, "c/s/R/Resource")
        return StackTemplate(
            cluster="c", name="s", region="us-east-2", template={"Resources": resources}, paths=paths
        )

    changes = compare([stack("ami-1")], [stack("ami-2")], idle_blocks=idle).stacks[0].changes
    (found,) = [one for one in changes if one.logical_id == "R"]
    return found


def launching(strategy: str, *, replaced: bool) -> dict[str, Any]:
    version = {"LaunchTemplateId": {"Ref": "T"}, "Version": {"Fn::GetAtt": ["T", "LatestVersionNumber"]}}
    return environment(
        ReplaceComputeEnvironment=replaced,
        ComputeResources={"AllocationStrategy": strategy, "LaunchTemplate": version},
        UpdatePolicy={"JobExecutionTimeoutMinutes": 7200},
    )


@pytest.mark.parametrize(
    ("strategy", "replaced", "allow", "reason"),
    [
        ("BEST_FIT", True, "replace:s/R", IN_BLOCK),
        ("BEST_FIT_PROGRESSIVE", False, "change:s/R", NO_ROOM),
    ],
)
def test_a_new_image_stops_while_a_block_may_run(
    strategy: str, replaced: bool, allow: str, reason: str
) -> None:
    own = launching(strategy, replaced=replaced)
    (stop,) = change_in_block(own, BLOCK_TEMPLATE, "cr-2").stops
    assert (str(stop.kind), stop.allow, stop.reason) == ("jobs", allow, reason)
    before_it = change_in_block(own, BLOCK_TEMPLATE, "cr-1")
    assert before_it.stops == ()
    note = "nothing runs in its Capacity Block yet; waiting jobs stay in the queue"
    assert (note in before_it.notes) is replaced


def test_a_new_image_updates_nodes_on_demand_in_place() -> None:
    assert change_in_block(launching("BEST_FIT_PROGRESSIVE", replaced=False), {}).stops == ()


@pytest.mark.parametrize(
    ("linked", "properties", "stopped"),
    [
        (True, {"Tags": [{"Key": "a", "Value": "b"}]}, True),
        (False, {"Tags": [{"Key": "a", "Value": "b"}]}, False),
        (True, {"LustreConfiguration": {"WeeklyMaintenanceStartTime": "1:00:00"}}, False),
        (
            True,
            {"Tags": [{"Key": "a", "Value": "b"}], "KmsKeyId": "k"},
            False,
        ),  # a new one has them from the start
    ],
)
def test_tags_of_a_linked_file_system_are_not_changed_in_place(
    linked: bool, properties: dict[str, Any], stopped: bool
) -> None:
    def stack(**given: Any) -> StackTemplate:
        resources = {"R": file_system(**given)}
        if linked:
            resources["Link"] = resource(
                "AWS::FSx::DataRepositoryAssociation", {"FileSystemPath": "/a"}, **KEPT
            )
        return StackTemplate(cluster="c", name="s", region="us-east-2", template={"Resources": resources})

    (found,) = compare([stack()], [stack(**properties)]).stacks[0].changes

    assert ["aws fsx tag-resource" in stop.reason for stop in found.stops if str(stop.kind) == "unknown"] == (
        [True] if stopped else []
    )


def test_notes_what_stays_behind_and_when_nodes_are_new() -> None:
    stays = "the old resource stays in the account, unmanaged and billed"
    new_nodes = "AWS Batch replaces nodes as jobs end; jobs that run longer than 7,200 minutes from then are terminated"

    assert change(file_system(), file_system(KmsKeyId="k")).notes == (stays,)
    assert change(file_system(), GONE).notes == (stays,)
    assert change(environment_for(7200), environment_for(7200, image="ami-2")).notes == (new_nodes,)
    assert change(environment_for(60), environment_for(60, image="ami-2")).notes == ()
    assert change(environment(), environment(State="DISABLED")).notes == ()
    assert change(resource("AWS::SNS::Topic"), GONE).notes == ()


def test_a_change_is_listed_with_its_resource_and_the_effect() -> None:
    policy = {"PolicyDocument": {"Statement": {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}}}
    added = change(GONE, resource("AWS::IAM::Policy", policy))
    removed = change(resource("AWS::IAM::Policy", policy), GONE)

    assert (added.stack, added.logical_id, added.path) == ("s", "R", "c/s/R/Resource")
    assert removed.path == "c/s/R/Resource"
    assert (added.action, added.widened) == (Action.ADD, ("allows s3:* on *",))
    assert (removed.action, removed.widened) == (Action.REMOVE, ())
    assert change(
        resource("AWS::IAM::Policy", policy), resource("AWS::IAM::Policy", policy | {"Roles": ["r"]})
    ).widened == ("Roles gets r",)
    assert not change(resource(FILE_SYSTEM), GONE).leaves_behind
    assert not change(file_system(), file_system(StorageCapacity=9600)).leaves_behind
    assert change(file_system(), file_system(KmsKeyId="k")).leaves_behind


def _queue_over(kind: str, name: str) -> dict[str, Any]:
    order = [{"Order": 1, "ComputeEnvironment": {"Fn::GetAtt": [name, "ComputeEnvironmentArn"]}}]
    return {
        "Queue": resource("AWS::Batch::JobQueue", {"ComputeEnvironmentOrder": order}),
        name: resource(ENVIRONMENT, {"Type": kind}),
    }


@pytest.mark.parametrize(
    ("before", "after", "starts"),
    [
        ("MANAGED", "UNMANAGED", "an Auto Scaling group will start its nodes"),
        ("UNMANAGED", "MANAGED", "AWS Batch will start its nodes"),
        ("MANAGED", "MANAGED", None),
    ],
)
def test_stops_a_queue_whose_nodes_another_service_will_start(
    before: str, after: str, starts: str | None
) -> None:
    old, new = (
        StackTemplate(
            cluster="c", name="s", region="us-east-2", template={"Resources": _queue_over(kind, name)}
        )
        for kind, name in ((before, "Old"), (after, "New"))
    )
    stops = [
        stop
        for changed in compare([old], [new]).stacks[0].changes
        for stop in changed.stops
        if changed.resource_type == "AWS::Batch::JobQueue" and "will start its nodes" in stop.reason
    ]
    assert [(str(stop.kind), stop.reason.partition(";")[0]) for stop in stops] == (
        [("jobs", starts)] if starts else []
    )


def test_lets_a_new_launch_template_reach_new_nodes_of_a_group_only() -> None:
    groups = [
        resource("AWS::AutoScaling::AutoScalingGroup", {"LaunchTemplate": {"Version": version}})
        for version in ("1", "2")
    ]
    updated = change(*groups)
    assert updated.action is Action.UPDATE
    assert updated.stops == ()
