"""Edits of the quick start's templates, as an app of one's own makes them: what stops, and what passes."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.stacks.plan.conftest import Stacks

from ultracluster_stacks.plan import Action, StackTemplate, compare

pytestmark = pytest.mark.slow

ENVIRONMENT = "AWS::Batch::ComputeEnvironment"
FILE_SYSTEM = "AWS::FSx::FileSystem"
BUCKET = "AWS::S3::Bucket"
LINK = "AWS::FSx::DataRepositoryAssociation"
LOGS = "AWS::Logs::LogGroup"
NODES = "AWS::EC2::LaunchTemplate"
Edit = Callable[[Stacks], Any]


def put(resource_type: str, path: str, value: Any, start: str = "") -> Edit:
    """Set a property; None takes it away."""

    def edit(stacks: Stacks) -> None:
        place: Any = stacks.properties(resource_type, start)
        *way, last = path.split(".")
        for part in way:
            place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
        if value is None:
            del place[last]
        elif isinstance(place, list):
            place.insert(int(last), value)
        else:
            place[last] = value

    return edit


def life(resource_type: str, policy: str, value: str | None, start: str = "") -> Edit:
    def edit(stacks: Stacks) -> None:
        stacks.resource(resource_type, start).pop(policy, None)
        if value is not None:
            stacks.resource(resource_type, start)[policy] = value

    return edit


def gone(resource_type: str, start: str = "") -> Edit:
    return lambda stacks: stacks.remove(resource_type, start)


def both(*edits: Edit) -> Edit:
    def edit(stacks: Stacks) -> None:
        for one in edits:
            one(stacks)

    return edit


def renamed(resource_type: str, start: str = "") -> Edit:
    """Give a resource another logical id, everywhere in its template."""

    def edit(stacks: Stacks) -> None:
        _, logical_id = stacks.find(resource_type, start)
        for index, stack in enumerate(stacks.stacks):
            text = json.dumps(stack.template).replace(f'"{logical_id}"', f'"Another{logical_id}"')
            stacks.stacks[index] = replace(stack, template=json.loads(text))

    return edit


def retyped(resource_type: str, other: str) -> Edit:
    return lambda stacks: stacks.resource(resource_type).update(Type=other)


NEW_IMAGE = put(NODES, "LaunchTemplateData.ImageId", "ami-0fedcba9876543210")
DANGEROUS: dict[str, tuple[Edit, set[str]]] = {
    "EFA of a file system": (
        put(FILE_SYSTEM, "LustreConfiguration.EfaEnabled", value=True),
        {"data", "jobs", "refused"},
    ),
    "deployment type of a file system": (
        put(FILE_SYSTEM, "LustreConfiguration.DeploymentType", "SCRATCH_2"),
        {"data", "jobs", "refused"},
    ),
    "key of a file system": (
        put(FILE_SYSTEM, "KmsKeyId", "arn:aws:kms:us-east-2:1:key/k"),
        {"data", "jobs", "refused"},
    ),
    "subnet of a file system": (put(FILE_SYSTEM, "SubnetIds", ["subnet-0"]), {"data", "jobs", "refused"}),
    "a smaller file system": (put(FILE_SYSTEM, "StorageCapacity", 2400), {"refused"}),
    "a file system without backups": (
        put(FILE_SYSTEM, "LustreConfiguration.AutomaticBackupRetentionDays", 0),
        {"data"},
    ),
    "another Lustre version": (put(FILE_SYSTEM, "FileSystemTypeVersion", "2.12"), {"data"}),
    "a file system that a deletion takes along": (life(FILE_SYSTEM, "DeletionPolicy", None), {"data"}),
    "a file system that a replacement takes along": (
        life(FILE_SYSTEM, "UpdateReplacePolicy", "Delete"),
        {"data"},
    ),
    "another id of a file system": (renamed(FILE_SYSTEM), {"data", "jobs", "refused"}),
    # https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/1687
    "tags of a file system with an association": (
        put(FILE_SYSTEM, "Tags.1", {"Key": "team", "Value": "b"}),
        {"unknown"},
    ),
    "no checkpoint bucket": (gone(BUCKET, "Checkpoints"), {"data", "refused"}),
    "a name for the checkpoint bucket": (
        put(BUCKET, "BucketName", "ours", "Checkpoints"),
        {"data", "refused"},
    ),
    "checkpoints without versions": (
        put(BUCKET, "VersioningConfiguration.Status", "Suspended", "Checkpoints"),
        {"data"},
    ),
    "checkpoints that expire": (
        put(BUCKET, "LifecycleConfiguration.Rules.0.ExpirationInDays", 7, "Checkpoints"),
        {"data"},
    ),
    "no export of checkpoints": (put(LINK, "S3.AutoExportPolicy", None), {"data"}),
    "another path of checkpoints": (put(LINK, "FileSystemPath", "/other"), {"data", "refused"}),
    "another place and bucket of checkpoints": (
        both(put(LINK, "FileSystemPath", "/other"), put(LINK, "DataRepositoryPath", "s3://another")),
        {"data"},
    ),
    "another spelling of what forces a replacement": (
        lambda stacks: stacks.properties(LINK).update(
            DataRepositoryPath={"Fn::Sub": "s3://${" + stacks.find(BUCKET, "Checkpoints")[1] + "}"}
        ),
        {"data"},
    ),
    "logs that go earlier": (put(LOGS, "RetentionInDays", 1), {"data"}),
    "addresses of the network": (
        put("AWS::EC2::VPC", "CidrBlock", "10.9.0.0/16"),
        {"network", "data", "jobs", "refused"},
    ),
    "addresses of the subnet": (
        put("AWS::EC2::Subnet", "CidrBlock", "10.0.8.0/21"),
        {"network", "data", "jobs", "refused"},
    ),
    "description of the nodes' security group": (
        put("AWS::EC2::SecurityGroup", "GroupDescription", "nodes", "NetworkSecurityGroup"),
        {"network", "jobs", "refused"},
    ),
    "no rule for EFA": (gone("AWS::EC2::SecurityGroupIngress", "NetworkEfaIngress"), {"network"}),
    "no endpoint for S3": (gone("AWS::EC2::VPCEndpoint", "NetworkS3"), {"network"}),
    "an AMI, while a block may run": (NEW_IMAGE, {"jobs"}),
    "another strategy than BEST_FIT in place": (
        both(
            put(ENVIRONMENT, "ComputeResources.AllocationStrategy", "BEST_FIT_PROGRESSIVE"),
            put(ENVIRONMENT, "ReplaceComputeEnvironment", value=False),
        ),
        {"jobs", "refused", "capacity"},
    ),
    "a name for the compute environment": (put(ENVIRONMENT, "ComputeEnvironmentName", "ours"), {"jobs"}),
    "an update that ends jobs at once": (
        both(put(ENVIRONMENT, "UpdatePolicy.TerminateJobsOnUpdate", value=True), NEW_IMAGE),
        {"jobs", "capacity"},
    ),
    "an update that ends jobs after an hour": (
        both(put(ENVIRONMENT, "UpdatePolicy.JobExecutionTimeoutMinutes", 60), NEW_IMAGE),
        {"jobs", "capacity"},
    ),
    "an update policy that ends jobs, alone": (
        put(ENVIRONMENT, "UpdatePolicy.TerminateJobsOnUpdate", value=True),
        {"capacity"},
    ),
    "more attempts of a job": (put("AWS::Batch::JobDefinition", "RetryStrategy.Attempts", 5), {"jobs"}),
    "a name for the queue": (put("AWS::Batch::JobQueue", "JobQueueName", "ours"), {"jobs"}),
    "no queue": (gone("AWS::Batch::JobQueue"), {"jobs"}),
    "a name for the role of a job": (
        put("AWS::IAM::Role", "RoleName", "ours", "ClusterpretrainRole"),
        {"jobs"},
    ),
    "no role of the nodes": (gone("AWS::IAM::Role", "ClusterNodesRole"), {"jobs"}),
    "another type under the same id": (retyped("AWS::SNS::Topic", "AWS::SQS::Queue"), {"refused"}),
    "a type that nobody knows": (
        lambda stacks: stacks.named("Cluster")["Resources"].update(
            Known={"Type": "AWS::QuantumLedger::Cluster", "Properties": {"Size": 2}}
        ),
        {"unknown"},
    ),
    "a condition that comes": (
        lambda stacks: stacks.resource("AWS::Lambda::Function").update(Condition="Sometimes"),
        {"unknown"},
    ),
    "properties of a custom resource": (
        lambda stacks: stacks.named("Cluster")["Resources"].update(
            Own={"Type": "Custom::Order", "Properties": {"ServiceToken": "arn", "Order": "second"}}
        ),
        {"unknown"},
    ),
}


UNKNOWN_RESOURCES = {
    "Known": {"Type": "AWS::QuantumLedger::Cluster", "Properties": {"Size": 1}},
    "Own": {"Type": "Custom::Order", "Properties": {"ServiceToken": "arn", "Order": "first"}},
}


def reversed_order(stacks: Stacks) -> None:
    for name in ("Network", "Storage", "Cluster"):
        template = stacks.named(name)
        for resource in template["Resources"].values():
            resource["Properties"] = dict(reversed(list(resource["Properties"].items())))


def other_spelling(stacks: Stacks) -> None:
    resources = stacks.properties(ENVIRONMENT)["ComputeResources"]
    resources["InstanceRole"] = {"Fn::GetAtt": ".".join(resources["InstanceRole"]["Fn::GetAtt"])}
    environment = stacks.properties("AWS::Lambda::Function", "ClusterBlockLifecycle")["Environment"][
        "Variables"
    ]
    environment["UC_TOPIC"] = {"Fn::Sub": "${" + environment["UC_TOPIC"]["Ref"] + "}"}


def another_bucket(stacks: Stacks) -> None:
    stacks.named("Storage")["Resources"]["Datasets"] = {"Type": BUCKET, "DeletionPolicy": "Retain"}


def another_recipient(stacks: Stacks) -> None:
    mail = stacks.resource("AWS::SNS::Subscription")
    more = {**mail, "Properties": mail["Properties"] | {"Endpoint": "more@example.com"}}
    stacks.named("Cluster")["Resources"]["MoreMail"] = more


def another_dataset(stacks: Stacks) -> None:
    statements = stacks.properties("AWS::IAM::Policy", "ClusterpretrainRole")["PolicyDocument"]["Statement"]
    statements.append({"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::corpus/*"})


def versions_stay_longer(stacks: Stacks) -> None:
    for rule in stacks.properties(BUCKET, "Checkpoints")["LifecycleConfiguration"]["Rules"]:
        if "NoncurrentVersionExpiration" in rule:
            rule["NoncurrentVersionExpiration"]["NoncurrentDays"] = 365


SAFE: dict[str, Edit] = {
    "nothing": lambda _: None,
    "the order of properties": reversed_order,
    "another spelling of functions": other_spelling,
    "more nodes": put(ENVIRONMENT, "ComputeResources.MaxvCpus", 1536),
    "a larger file system": put(FILE_SYSTEM, "StorageCapacity", 9600),
    "a faster file system": put(FILE_SYSTEM, "LustreConfiguration.PerUnitStorageThroughput", 500),
    "a file system without compression": put(FILE_SYSTEM, "LustreConfiguration.DataCompressionType", "NONE"),
    "tags of a bucket": put(BUCKET, "Tags.1", {"Key": "team", "Value": "b"}, "Checkpoints"),
    "logs that stay for ever": put(LOGS, "RetentionInDays", None),
    "logs that stay longer": put(LOGS, "RetentionInDays", 3653),
    "another bucket": another_bucket,
    "another recipient of alarms": another_recipient,
    "another dataset that jobs read": another_dataset,
    "old versions of checkpoints that stay longer": versions_stay_longer,
    "a revision of a job": put("AWS::Batch::JobDefinition", "NodeProperties.NumNodes", 2),
    "a priority of the queue": put("AWS::Batch::JobQueue", "Priority", 7),
    "a threshold of an alarm": put("AWS::CloudWatch::Alarm", "Threshold", 9),
    "code of a function": put("AWS::Lambda::Function", "Code.S3Key", f"{'a' * 64}.zip"),
    "traces of a function": put("AWS::Lambda::Function", "TracingConfig.Mode", "Active"),
    "a description of a rule": put(
        "AWS::EC2::SecurityGroupIngress", "Description", "EFA", "NetworkEfaIngress"
    ),
}


@pytest.fixture
def base(quickstart_stacks: list[StackTemplate]) -> Stacks:
    """What is deployed: the quick start, a resource of a type that nobody knows and a custom resource."""
    stacks = Stacks(quickstart_stacks)
    stacks.named("Cluster")["Resources"] |= UNKNOWN_RESOURCES
    return stacks


@pytest.mark.parametrize("name", DANGEROUS)
def test_a_dangerous_edit_stops(base: Stacks, name: str) -> None:
    edit, kinds = DANGEROUS[name]
    edited = Stacks(base.stacks)
    edit(edited)

    plan = compare(base.stacks, edited.stacks)

    assert {str(stop.kind) for stop in plan.stops()} == kinds
    assert plan.stopped()


@pytest.mark.parametrize("name", SAFE)
def test_a_safe_edit_passes(base: Stacks, name: str) -> None:
    edited = Stacks(base.stacks)
    SAFE[name](edited)

    plan = compare(base.stacks, edited.stacks)

    assert [str(stop) for stop in plan.stops()] == []


def test_there_are_enough_of_both() -> None:
    assert len(DANGEROUS) >= 20
    assert len(SAFE) >= 10


def test_property_order_and_spelling_are_not_changes(base: Stacks) -> None:
    edited = Stacks(base.stacks)
    reversed_order(edited)
    other_spelling(edited)

    assert all(not stack.changes for stack in compare(base.stacks, edited.stacks).stacks)


def test_a_word_allows_one_thing_and_not_what_would_fail(base: Stacks) -> None:
    edited = Stacks(base.stacks)
    put(FILE_SYSTEM, "FileSystemTypeVersion", "2.12")(edited)
    plan = compare(base.stacks, edited.stacks)
    (stop,) = plan.stops()

    assert stop.allow is not None
    assert stop.allow.startswith("change:quickstart-us-east-2-Storage/FileSystem")
    assert not plan.stopped([stop.allow])
    assert plan.stopped([stop.allow.replace("change", "replace")])

    put("AWS::EC2::Subnet", "CidrBlock", "10.0.8.0/21")(edited)
    plan = compare(base.stacks, edited.stacks)
    assert plan.stopped([stop.allow for stop in plan.stops() if stop.allow])


def test_a_new_subnet_reaches_what_other_stacks_put_into_it(base: Stacks) -> None:
    edited = Stacks(base.stacks)
    put("AWS::EC2::Subnet", "CidrBlock", "10.0.8.0/21")(edited)

    changes = {
        change.resource_type: change
        for stack in compare(base.stacks, edited.stacks).stacks
        for change in stack.changes
    }

    assert changes[FILE_SYSTEM].action is Action.REPLACE
    assert changes[FILE_SYSTEM].leaves_behind
    assert (
        changes[FILE_SYSTEM].properties[0].cause.startswith("quickstart-us-east-2-Network:ExportsOutputRef")
    )
    assert changes[LINK].action is Action.REPLACE
    assert changes[ENVIRONMENT].action is Action.REPLACE
    assert changes["AWS::Batch::JobQueue"].action is Action.UPDATE  # waiting jobs stay


def test_an_image_reaches_the_compute_environment_by_the_version_of_the_launch_template(base: Stacks) -> None:
    edited = Stacks(base.stacks)
    NEW_IMAGE(edited)

    changes = {
        change.resource_type: change for change in compare(base.stacks, edited.stacks).stacks[2].changes
    }
    environment, template = changes[ENVIRONMENT], changes[NODES].logical_id

    assert [(one.path[-1], one.cause) for one in environment.properties] == [("Version", template)]
    assert environment.action is Action.REPLACE
