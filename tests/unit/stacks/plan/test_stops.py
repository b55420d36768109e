"""What stops a deployment, in which words, and which word allows it: one resource in a stack of its own."""

from typing import Any

import pytest

from ultracluster_stacks.plan import Action, StackTemplate, compare
from ultracluster_stacks.plan.changes import ResourceChange

FILE_SYSTEM = "AWS::FSx::FileSystem"
LINK = "AWS::FSx::DataRepositoryAssociation"
ENVIRONMENT = "AWS::Batch::ComputeEnvironment"
KEPT = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
GONE: dict[str, Any] = {}

DATA = "a new, empty one takes its place; the old one stays, unmanaged"
LOST = "a new, empty one takes its place; the old one and its data are deleted"
PERHAPS = "a new, empty one may take its place; the old one stays, unmanaged"
LET_GO = "it leaves the stack and stays, unmanaged and billed"
SECOND_LINK = "FSx refuses a second association of the same path while the old one exists"
END = "its running and waiting jobs end"
MOVES = "jobs that run on it end; waiting jobs stay in the queue"
IN_BLOCK = "jobs that run in its Capacity Block end; waiting jobs stay in the queue"
NO_ROOM = (
    "a Capacity Block has no room for new nodes beside old ones, so that the deployment waits for running jobs to end, times "
    "out and rolls back"
)
IN_PLACE = "AWS Batch updates nodes in place only with another allocation strategy than BEST_FIT"
CONDITION = "its condition changes, which may create or delete it"
AFTER_30 = "an infrastructure update terminates running jobs after 30 minutes"
AT_ONCE = "an infrastructure update terminates running jobs immediately"
ADDED = "AWS Batch refuses that a fair-share policy is added to a queue"
REMOVED = "AWS Batch refuses that a fair-share policy is removed from a queue"
CUSTOM = "the effect of the change depends on its function and is unknown"
UNKNOWN = "is not known to be safe for what"
PERMISSIONS = "running nodes or jobs lose their permissions"


def resource(kind: str, properties: Any = None, **life: Any) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties or {}, **life}


def file_system(**properties: Any) -> dict[str, Any]:
    return resource(FILE_SYSTEM, {"StorageCapacity": 4800, **properties}, **KEPT)


def link(**properties: Any) -> dict[str, Any]:
    places = {"FileSystemId": "fs-1", "FileSystemPath": "/a", "DataRepositoryPath": "s3://a"}
    return resource(LINK, places | properties, **KEPT)


def environment(image: str = "ami-1", **properties: Any) -> dict[str, Any]:
    resources = {"AllocationStrategy": "BEST_FIT_PROGRESSIVE", "ImageId": image, "MaxvCpus": 192}
    own = {"ReplaceComputeEnvironment": False, "ComputeResources": resources}
    return resource(ENVIRONMENT, own | properties)


def best_fit(image: str, strategy: dict[str, str], **properties: Any) -> dict[str, Any]:
    return environment(ComputeResources={"ImageId": image, **strategy}, **properties)


def queue(**properties: Any) -> dict[str, Any]:
    return resource("AWS::Batch::JobQueue", {"Priority": 1, **properties})


def role(*services: str, **properties: Any) -> dict[str, Any]:
    trust = {"Statement": [{"Action": "sts:AssumeRole", "Principal": {"Service": list(services)}}]}
    return resource("AWS::IAM::Role", {"AssumeRolePolicyDocument": trust, **properties})


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


@pytest.mark.parametrize(
    ("before", "after", "stops"),
    [
        (file_system(), file_system(KmsKeyId="k"), {("data", "replace:s/R", DATA)}),
        (
            file_system(),
            file_system(LustreConfiguration={"EfaEnabled": True}),
            {("data", "replace:s/R", DATA)},
        ),
        (
            file_system() | {"UpdateReplacePolicy": "Delete"},
            file_system(KmsKeyId="k") | {"UpdateReplacePolicy": "Delete"},
            {("data", "replace:s/R", LOST)},
        ),
        (
            file_system(),
            file_system() | {"Condition": "Sometimes"},
            {
                ("data", "replace:s/R", PERHAPS),
                ("unknown", "replace:s/R", CONDITION),
            },
        ),
        (queue(), queue(SchedulingPolicyArn="a"), {("refused", None, ADDED)}),
        (queue(SchedulingPolicyArn="a"), queue(), {("refused", None, REMOVED)}),
        (
            queue(SchedulingPolicyArn="a"),
            queue(SchedulingPolicyArn="b"),
            {("jobs", "change:s/R", f"SchedulingPolicyArn: a -> b {UNKNOWN} places or describes jobs")},
        ),
        (file_system(), GONE, {("data", "remove:s/R", LET_GO)}),
        (resource(FILE_SYSTEM), GONE, {("data", "remove:s/R", "it is deleted with its data")}),
        (
            file_system(),
            file_system(StorageCapacity=2400),
            {
                (
                    "refused",
                    None,
                    "StorageCapacity: 4800 -> 2400: it cannot be decreased; the service refuses it",
                )
            },
        ),
        (
            file_system(LustreConfiguration={"MetadataConfiguration": {"Iops": 3000}}),
            file_system(LustreConfiguration={"MetadataConfiguration": {"Iops": 1500}}),
            {
                (
                    "refused",
                    None,
                    "LustreConfiguration.MetadataConfiguration.Iops: 3000 -> 1500: it cannot be decreased; the service refuses it",
                )
            },
        ),
        (
            file_system(LustreConfiguration={"AutomaticBackupRetentionDays": 7}),
            file_system(LustreConfiguration={"AutomaticBackupRetentionDays": 0}),
            {
                (
                    "data",
                    "change:s/R",
                    "LustreConfiguration.AutomaticBackupRetentionDays: 7 -> 0: older backups would be deleted",
                )
            },
        ),
        (
            file_system(),
            file_system(StorageCapacity={"Ref": "Capacity"}),
            {
                (
                    "data",
                    "change:s/R",
                    f'StorageCapacity: 4800 -> {{"Ref": "Capacity"}} {UNKNOWN} keeps data or capacity',
                )
            },
        ),
        (
            resource("AWS::Logs::LogGroup", {"RetentionInDays": 30}),
            resource("AWS::Logs::LogGroup", {"RetentionInDays": 7}),
            {("data", "change:s/R", "RetentionInDays: 30 -> 7: older logs would be deleted")},
        ),
        (
            file_system(),
            file_system() | {"DeletionPolicy": "Delete"},
            {("data", "change:s/R", "its DeletionPolicy changes from Retain to Delete")},
        ),
        (
            resource("AWS::EC2::Volume", DeletionPolicy="Snapshot", UpdateReplacePolicy="Snapshot"),
            resource("AWS::EC2::Volume", DeletionPolicy="Snapshot"),
            {("data", "change:s/R", "its UpdateReplacePolicy changes from Snapshot to Delete")},
        ),
        (
            resource("AWS::SNS::Topic", {"TopicName": "a"}, DeletionPolicy="RetainExceptOnCreate"),
            resource("AWS::SNS::Topic", {"TopicName": "b"}, DeletionPolicy="RetainExceptOnCreate"),
            {("data", "replace:s/R", LOST)},
        ),
        (
            link(),
            link(DataRepositoryPath="s3://b"),
            {("data", "replace:s/R", DATA), ("refused", None, SECOND_LINK)},
        ),
        (
            link(),
            link(FileSystemPath="/b"),
            {("data", "replace:s/R", DATA), ("refused", None, SECOND_LINK)},
        ),
        (link(), link(FileSystemPath="/b", DataRepositoryPath="s3://b"), {("data", "replace:s/R", DATA)}),
        (link(), link(FileSystemId="fs-2"), {("data", "replace:s/R", DATA)}),
        (link(), GONE, {("data", "remove:s/R", LET_GO)}),
        (
            resource("AWS::Batch::JobQueue", {"JobQueueName": "a"}),
            resource("AWS::Batch::JobQueue", {"JobQueueName": "b"}),
            {("jobs", "replace:s/R", END)},
        ),
        (resource("AWS::Batch::JobQueue"), GONE, {("jobs", "remove:s/R", END)}),
        (
            environment(),
            environment("ami-2"),
            {("jobs", "change:s/R", AFTER_30)},
        ),
        (
            environment_for(60),
            environment_for(60, image="ami-2"),
            {("jobs", "change:s/R", "an infrastructure update terminates running jobs after 60 minutes")},
        ),
        (
            environment_for(7200, at_once=True),
            environment_for(7200, at_once=True, image="ami-2"),
            {("jobs", "change:s/R", AT_ONCE)},
        ),
        (
            environment_for(7200, at_once="True"),
            environment_for(7200, at_once="True", image="ami-2"),
            {("jobs", "change:s/R", AT_ONCE)},
        ),
        (
            environment(),
            environment(ComputeResources={"Ref": "Resources"}),
            {("jobs", "replace:s/R", MOVES)},
        ),
        (
            environment(ReplaceComputeEnvironment=True),
            environment("ami-2", ReplaceComputeEnvironment=True),
            {("jobs", "replace:s/R", MOVES)},
        ),
        # The answer of AWS: https://repost.aws/knowledge-center/batch-update-ec2-environment
        *(
            (
                best_fit("ami-1", strategy, UpdatePolicy={"JobExecutionTimeoutMinutes": 7200}),
                best_fit("ami-2", strategy, UpdatePolicy={"JobExecutionTimeoutMinutes": 7200}),
                {("refused", None, IN_PLACE)},
            )
            for strategy in ({"AllocationStrategy": "BEST_FIT"}, {})
        ),
        (role("ec2.amazonaws.com"), GONE, {("jobs", "remove:s/R", PERMISSIONS)}),
        (
            role("ecs-tasks.amazonaws.com", RoleName="a"),
            role("ecs-tasks.amazonaws.com", RoleName="b"),
            {("jobs", "replace:s/R", PERMISSIONS)},
        ),
        (resource("AWS::IAM::InstanceProfile"), GONE, {("jobs", "remove:s/R", PERMISSIONS)}),
        (
            resource("AWS::EC2::Route", {"RouteTableId": "rtb-1"}),
            resource("AWS::EC2::Route", {"RouteTableId": "rtb-2"}),
            {
                (
                    "network",
                    "replace:s/R",
                    "a part of the network of running nodes and file systems is replaced",
                )
            },
        ),
        (
            resource("AWS::EC2::Route", {"GatewayId": "a"}),
            resource("AWS::EC2::Route", {"GatewayId": "b"}),
            {("network", "change:s/R", "GatewayId of a part of the network changes while nodes use it")},
        ),
        (
            resource("AWS::EC2::VPCEndpoint"),
            GONE,
            {("network", "remove:s/R", "a part of the network of running nodes and file systems is removed")},
        ),
        (
            resource("Custom::Order", {"Size": 1}),
            resource("Custom::Order", {"Size": 2}),
            {("unknown", "replace:s/R", CUSTOM)},
        ),
        (
            resource("AWS::CloudFormation::CustomResource"),
            GONE,
            {("unknown", "remove:s/R", CUSTOM)},
        ),
        (
            resource("AWS::QuantumLedger::Cluster", {"Size": 1}),
            resource("AWS::QuantumLedger::Cluster", {"Size": 2}),
            {
                (
                    "unknown",
                    "replace:s/R",
                    "whether a change replaces AWS::QuantumLedger::Cluster is unknown",
                )
            },
        ),
        (
            resource("AWS::SNS::Topic"),
            resource("AWS::SNS::Topic", Condition="Sometimes"),
            {("unknown", "replace:s/R", CONDITION)},
        ),
        (
            resource("AWS::SNS::Topic"),
            GONE,
            {("control", "remove:s/R", "it tells people, and nothing takes over its work")},
        ),
        (
            resource("AWS::QuantumLedger::Cluster"),
            GONE,
            {("unknown", "remove:s/R", "it is of a type that no row knows, and nothing takes over its work")},
        ),
        (
            environment(),
            environment(State="DISABLED"),
            {("capacity", "change:s/R", "State: (none) -> DISABLED: paid nodes would stay empty")},
        ),
        (
            GONE,
            file_system(),
            {
                (
                    "data",
                    "change:s/R",
                    "it is new and keeps data or capacity: it is paid by its size from the start",
                )
            },
        ),
        (
            GONE,
            resource("Custom::Order"),
            {
                (
                    "unknown",
                    "change:s/R",
                    "it is new, and what Custom::Order costs or does is not known to the plan",
                )
            },
        ),
        (
            resource("AWS::SNS::Topic"),
            resource("AWS::SQS::Queue"),
            {("refused", None, "its type changes under the same logical ID, which CloudFormation refuses")},
        ),
    ],
)
def test_says_what_would_happen_and_which_word_allows_it(
    before: dict[str, Any], after: dict[str, Any], stops: set[tuple[str, str | None, str]]
) -> None:
    assert {(str(one.kind), one.allow, one.reason) for one in change(before, after).stops} == stops


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (GONE, resource("AWS::Batch::JobQueue")),
        (file_system(), file_system(StorageCapacity=9600)),
        (file_system(), file_system(StorageCapacity="4800")),
        (file_system(), file_system(Tags=[{"Key": "a", "Value": "b"}])),
        (
            file_system(LustreConfiguration={"MetadataConfiguration": {"Iops": 1500}}),
            file_system(LustreConfiguration={"MetadataConfiguration": {"Iops": 3000}}),
        ),
        (file_system(), file_system() | {"DeletionPolicy": "RetainExceptOnCreate"}),
        (resource(FILE_SYSTEM), file_system(StorageCapacity=None)),
        (
            resource("AWS::Logs::LogGroup", {"RetentionInDays": 7}),
            resource("AWS::Logs::LogGroup", {"RetentionInDays": 30}),
        ),
        (resource("AWS::Logs::LogGroup", {"RetentionInDays": 7}), resource("AWS::Logs::LogGroup")),
        (
            resource("AWS::SNS::Topic", {"DisplayName": "a"}, **KEPT),
            resource("AWS::SNS::Topic", {"DisplayName": "b"}, **KEPT),
        ),
        (link(), link(Tags=[{"Key": "a", "Value": "b"}])),
        (
            resource("AWS::Batch::JobQueue", {"Priority": 1}),
            resource("AWS::Batch::JobQueue", {"Priority": 2}),
        ),
        (environment_for(7200), environment_for(7200, image="ami-2")),
        (environment_for(7200, at_once=False), environment_for(7200, at_once="false", image="ami-2")),
        (
            best_fit("ami-1", {"AllocationStrategy": "BEST_FIT"}),
            best_fit("ami-1", {"AllocationStrategy": "BEST_FIT", "MaxvCpus": "384"}),
        ),
        (role("lambda.amazonaws.com"), GONE),
        (role("ec2.amazonaws.com"), role("ec2.amazonaws.com", Description="nodes")),
    ],
)
def test_lets_pass_what_harms_nothing(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert change(before, after).stops == ()


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
