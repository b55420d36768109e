"""Every resource type round-trips: what a template says is what the service shows, and nothing is left afterwards."""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cloudformation.comparison import differences
from tests.cloudformation.reported import reported

from ultracluster_local import LocalAws
from ultracluster_local.cloudformation.registry import schemas
from ultracluster_local.cloudformation.resource_types import PROVIDERS
from ultracluster_local.cloudformation.templates.parsing import parse

EVERY_TYPE = Path(__file__).with_name("every_type.yaml").read_text("utf-8")

# What a service does not show, or what is no setting of it: each is looked at by a test below, or cannot be.
UNSEEN = {
    "AWS::IAM::ServiceLinkedRole": {"AWSServiceName"},  # the role is named for it
    "AWS::Budgets::Budget": {"NotificationsWithSubscribers"},  # test_budget_notifications_are_kept
    "AWS::Batch::ComputeEnvironment": {"ReplaceComputeEnvironment"},  # directs CloudFormation
    "AWS::DynamoDB::Table": {"SSESpecification"},  # shown as SSEDescription
    "AWS::ECR::Repository": {"EmptyOnDelete"},  # directs CloudFormation
    "AWS::FSx::FileSystem": {"SecurityGroupIds"},  # FSx shows them on the network interfaces only
    "AWS::KMS::Key": {"PendingWindowInDays"},  # directs CloudFormation
    "AWS::Lambda::EventInvokeConfig": {"FunctionName", "Qualifier"},  # part of FunctionArn
    "AWS::Lambda::Function": {"Code"},  # test_function_runs_its_code
    "AWS::Lambda::LayerVersion": {"Content"},
    "AWS::SecretsManager::Secret": {"GenerateSecretString"},  # what it generates is a secret
    "AWS::SNS::TopicPolicy": {"Topics"},
    "AWS::SQS::QueuePolicy": {"Queues"},
    "AWS::EC2::SecurityGroupEgress": {"Description"},  # moto keeps none
    "AWS::EC2::SecurityGroupIngress": {"Description"},  # moto keeps none
    "AWS::SSM::Parameter": {"Description"},  # not shown with the value
    "AWS::S3::Bucket": {
        "NotificationConfiguration",
        "OwnershipControls",
    },  # moto shows no EventBridge setting
}


@pytest.fixture(scope="module")
def deployed(local_aws_server: LocalAws) -> Iterator[LocalAws]:
    local_aws_server.reset()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("python/nothing.py", "")
    bucket = "cdk-hnb659fds-assets-123456789012-us-east-1"
    local_aws_server.client("s3").put_object(Bucket=bucket, Key="layer.zip", Body=buffer.getvalue())
    api = local_aws_server.client("cloudformation")
    api.create_stack(StackName="one", TemplateBody=EVERY_TYPE, Capabilities=["CAPABILITY_NAMED_IAM"])
    stack = api.describe_stacks(StackName="one")["Stacks"][0]
    assert stack["StackStatus"] == "CREATE_COMPLETE", stack["StackStatusReason"]
    yield local_aws_server
    api.delete_stack(StackName="one")


@pytest.fixture(scope="module")
def reports(deployed: LocalAws) -> dict[str, tuple[dict[str, Any], Mapping[str, Any] | None]]:
    return reported("one", region=deployed.client("cloudformation").meta.region_name)


def resources() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = parse(EVERY_TYPE)["Resources"]
    return found


def ids(local: LocalAws) -> dict[str, str]:
    found = local.client("cloudformation").describe_stack_resources(StackName="one")["StackResources"]
    return {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in found}


def test_template_holds_every_type_that_has_a_provider() -> None:
    nested = "AWS::CloudFormation::Stack"  # needs a template in a bucket: test_nested_stacks.py
    assert {one["Type"] for one in resources().values()} == set(PROVIDERS) - {nested}


def test_cloudformation_has_every_type_that_has_a_provider() -> None:
    assert [one for one in PROVIDERS if not schemas.is_known(one)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, one in resources().items() if "Condition" not in one])
def test_the_service_returns_the_settings_of_the_template(
    name: str, reports: dict[str, tuple[dict[str, Any], Mapping[str, Any] | None]]
) -> None:
    kind = resources()[name]["Type"]
    if kind == "AWS::CDK::Metadata":
        assert name not in reports
        return
    declared, shown = reports[name]
    assert shown is not None
    assert list(differences(declared, shown)) == []
    seen = {key.lower() for key in shown}
    unseen = {key for key in declared if key.lower() not in seen}
    assert unseen - {"Tags", "TagSpecifications"} <= UNSEEN.get(kind, set())


@pytest.mark.slow
def test_outputs_show_attributes_and_parameters_from_ssm(deployed: LocalAws) -> None:
    outputs = deployed.client("cloudformation").describe_stacks(StackName="one")["Stacks"][0]["Outputs"]
    assert {one["OutputKey"]: one["OutputValue"] for one in outputs} == {
        "TemplateVersion": "1",
        "BootstrapVersion": "30",
    }


@pytest.mark.slow
def test_tags_are_on_the_resources(deployed: LocalAws) -> None:
    tagging = {
        "logs": ("list_tags_log_group", {"logGroupName": "Logs"}, "tags"),
        "sqs": ("list_queue_tags", {"QueueUrl": "Queue"}, "Tags"),
        "sns": ("list_tags_for_resource", {"ResourceArn": "Topic"}, "Tags"),
        "ssm": (
            "list_tags_for_resource",
            {"ResourceId": "Parameter", "ResourceType": "Parameter"},
            "TagList",
        ),
    }
    names = ids(deployed)
    for service, (call, arguments, key) in tagging.items():
        sent = {
            one: names.get(value, value) if one != "ResourceType" else value
            for one, value in arguments.items()
        }
        tags = getattr(deployed.client(service), call)(**sent)[key]
        shown = tags if isinstance(tags, dict) else {tag["Key"]: tag["Value"] for tag in tags}
        assert shown.get("owner") == "us", service


@pytest.mark.slow
def test_ec2_resources_carry_the_tags_of_cloudformation(deployed: LocalAws) -> None:
    vpc = deployed.client("ec2").describe_vpcs(VpcIds=[ids(deployed)["Vpc"]])["Vpcs"][0]
    tags = {tag["Key"]: tag["Value"] for tag in vpc["Tags"]}
    assert tags["aws:cloudformation:logical-id"] == "Vpc"
    assert tags["aws:cloudformation:stack-name"] == "one"


@pytest.mark.slow
def test_launch_template_is_read_back_word_for_word(deployed: LocalAws) -> None:
    names = ids(deployed)
    ec2 = deployed.client("ec2")
    (version,) = ec2.describe_launch_template_versions(LaunchTemplateId=names["Template"])[
        "LaunchTemplateVersions"
    ]
    data = version["LaunchTemplateData"]
    declared = resources()["Template"]["Properties"]["LaunchTemplateData"]
    assert data["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    target = data["CapacityReservationSpecification"]["CapacityReservationTarget"]
    assert target == {"CapacityReservationId": names["Reservation"]}
    assert [
        (one["NetworkCardIndex"], one["InterfaceType"], one["Groups"]) for one in data["NetworkInterfaces"]
    ] == [
        (0, "efa", [names["EfaGroup"]]),
        (1, "efa-only", [names["EfaGroup"]]),
    ]
    assert data["TagSpecifications"] == declared["TagSpecifications"]
    assert list(differences(declared["MetadataOptions"], data["MetadataOptions"])) == []
    (template,) = ec2.describe_launch_templates()["LaunchTemplates"]
    assert {"Key": "Name", "Value": "nodes"} in template["Tags"]


@pytest.mark.slow
def test_security_group_rules_are_those_of_the_template(deployed: LocalAws) -> None:
    group_id = ids(deployed)["EfaGroup"]
    (group,) = deployed.client("ec2").describe_security_groups(GroupIds=[group_id])["SecurityGroups"]
    pairs = [pair["GroupId"] for rule in group["IpPermissions"] for pair in rule["UserIdGroupPairs"]]
    assert pairs == [group_id]
    out = [
        (
            rule["IpProtocol"],
            [one["CidrIp"] for one in rule["IpRanges"]],
            [one["GroupId"] for one in rule["UserIdGroupPairs"]],
        )
        for rule in group["IpPermissionsEgress"]
    ]
    assert sorted(out) == [("-1", [], [group_id]), ("tcp", ["10.0.0.0/16"], [])]


@pytest.mark.slow
def test_budget_notifications_are_kept(deployed: LocalAws) -> None:
    budgets = deployed.client("budgets")
    name = ids(deployed)["Budget"]
    answer = budgets.describe_notifications_for_budget(AccountId="123456789012", BudgetName=name)
    assert [one["Threshold"] for one in answer["Notifications"]] == [80.0]


@pytest.mark.slow
def test_bucket_settings_are_kept(deployed: LocalAws) -> None:
    s3, bucket = deployed.client("s3"), ids(deployed)["Bucket"]
    rules = s3.get_bucket_ownership_controls(Bucket=bucket)["OwnershipControls"]["Rules"]
    assert rules == [{"ObjectOwnership": "BucketOwnerEnforced"}]


@pytest.mark.slow
def test_bucket_policy_that_denies_plain_http_admits_https(deployed: LocalAws) -> None:
    bucket = ids(deployed)["Bucket"]
    deployed.client("s3").put_object(Bucket=bucket, Key="a", Body=b"")
    deployed.client("s3").delete_object(Bucket=bucket, Key="a")


@pytest.mark.slow
def test_function_runs_its_code(deployed: LocalAws) -> None:
    payload = json.dumps({"question": 1})
    answer = deployed.client("lambda").invoke(FunctionName=ids(deployed)["Function"], Payload=payload)
    assert json.loads(answer["Payload"].read()) == {"question": 1}


@pytest.mark.slow
def test_deleting_the_stack_leaves_nothing(stacks: Any) -> None:
    local = stacks.local

    def left() -> dict[str, Any]:
        ec2 = local.client("ec2")
        keys = local.client("kms").list_keys()["Keys"]
        described = [local.client("kms").describe_key(KeyId=key["KeyId"])["KeyMetadata"] for key in keys]
        reservations = ec2.describe_capacity_reservations()["CapacityReservations"]
        definitions = local.client("batch").describe_job_definitions(status="ACTIVE")
        return {
            "vpcs": len(ec2.describe_vpcs()["Vpcs"]),
            "subnets": len(ec2.describe_subnets()["Subnets"]),
            "groups": len(ec2.describe_security_groups()["SecurityGroups"]),
            "tables": len(ec2.describe_route_tables()["RouteTables"]),
            "gateways": len(ec2.describe_internet_gateways()["InternetGateways"]),
            "endpoints": [
                one for one in ec2.describe_vpc_endpoints()["VpcEndpoints"] if one["State"] != "deleted"
            ],
            "addresses": ec2.describe_addresses()["Addresses"],
            "nats": [one for one in ec2.describe_nat_gateways()["NatGateways"] if one["State"] != "deleted"],
            "templates": ec2.describe_launch_templates()["LaunchTemplates"],
            "placement groups": ec2.describe_placement_groups()["PlacementGroups"],
            "reservations": [one for one in reservations if one["State"] == "active"],
            "roles": local.client("iam").list_roles()["Roles"],
            "profiles": local.client("iam").list_instance_profiles()["InstanceProfiles"],
            "policies": local.client("iam").list_policies(Scope="Local")["Policies"],
            "buckets": len(local.client("s3").list_buckets()["Buckets"]),
            "file systems": local.client("fsx").describe_file_systems()["FileSystems"],
            "environments": local.client("batch").describe_compute_environments()["computeEnvironments"],
            "queues": local.client("batch").describe_job_queues()["jobQueues"],
            "definitions": definitions["jobDefinitions"],
            "service environments": local.client("batch").describe_service_environments()[
                "serviceEnvironments"
            ],
            "log groups": local.client("logs").describe_log_groups()["logGroups"],
            # Services make keys of their own, which stay, as on AWS.
            "keys": [
                one
                for one in described
                if one["Description"] == "everything" and one["KeyState"] == "Enabled"
            ],
            "parameters": len(local.client("ssm").describe_parameters()["Parameters"]),
            "topics": local.client("sns").list_topics()["Topics"],
            "subscriptions": local.client("sns").list_subscriptions()["Subscriptions"],
            "sqs": local.client("sqs").list_queues().get("QueueUrls", []),
            "rules": local.client("events").list_rules()["Rules"],
            "schedules": local.client("scheduler").list_schedules()["Schedules"],
            "functions": local.client("lambda").list_functions()["Functions"],
            "layers": local.client("lambda").list_layers()["Layers"],
            "alarms": local.client("cloudwatch").describe_alarms()["MetricAlarms"],
            "dashboards": local.client("cloudwatch").list_dashboards()["DashboardEntries"],
            "budgets": local.client("budgets").describe_budgets(AccountId="123456789012").get("Budgets", []),
            "dynamodb": local.client("dynamodb").list_tables()["TableNames"],
            "repositories": local.client("ecr").describe_repositories()["repositories"],
            "pipelines": local.client("imagebuilder").list_image_pipelines()["imagePipelineList"],
            "cache rules": local.client("ecr").describe_pull_through_cache_rules()["pullThroughCacheRules"],
        }

    before = left()
    template = parse(EVERY_TYPE)
    del template["Resources"]["Layer"]  # its archive would have to be uploaded first
    del template["Resources"]["Function"]["Properties"]["Layers"]
    assert stacks.create("one", template) == "CREATE_COMPLETE", stacks.reasons("one")
    assert left() != before
    assert stacks.delete("one") == "DELETE_COMPLETE"
    assert left() == before
