"""Every member of the requests of botocore's models is used, kept, refused by its name or idle for a reason: none is dropped."""

import io
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.refusals import refusal
from tests.services.read_members import is_answered, unread

from ultracluster_local import LocalAws
from ultracluster_local.instance.clients import service_model
from ultracluster_local.services.members import MEMBERS

FOLLOWED = {
    service: operations.split()
    for service, operations in tomllib.loads(
        Path(__file__).with_name("followed_operations.toml").read_text("utf-8")
    ).items()
}

# Members that code keeps as they are, without naming their parts or them. The tests of these services look at what is shown.
WHOLE = {
    "autoscaling": {
        "CreateAutoScalingGroup": "*",
        "UpdateAutoScalingGroup": "*",
    },
    "batch": dict.fromkeys(
        [
            "CreateComputeEnvironment",
            "CreateJobQueue",
            "CreateQuotaShare",
            "CreateSchedulingPolicy",
            "CreateServiceEnvironment",
            "RegisterJobDefinition",
            "SubmitJob",
            "SubmitServiceJob",
            "UpdateComputeEnvironment",
            "UpdateJobQueue",
            "UpdateQuotaShare",
            "UpdateSchedulingPolicy",
            "UpdateServiceEnvironment",
        ],
        "*",
    ),
    "budgets": {"CreateBudget": "Budget", "UpdateBudget": "NewBudget"},
    # moto's method for other alarms reads them.
    "cloudwatch": {
        "PutCompositeAlarm": "ActionsEnabled AlarmActions AlarmDescription AlarmName InsufficientDataActions OKActions Tags"
    },
    "lambda": {"AddPermission": "Action", "GetLayerVersion": "VersionNumber"},
    "s3": {
        "PutBucketLifecycleConfiguration": "LifecycleConfiguration",
        "PutBucketMetricsConfiguration": "*",
        "PutBucketReplication": "*",
    },
    "ec2": dict.fromkeys(("CreateLaunchTemplate", "CreateLaunchTemplateVersion"), "LaunchTemplateData"),
    "events": {"PutTargets": "Targets"},
    "fsx": dict.fromkeys(("CreateFileSystem", "UpdateFileSystem"), "LustreConfiguration"),
    "logs": {"PutMetricFilter": "metricTransformations"},
    "scheduler": dict.fromkeys(("CreateSchedule", "UpdateSchedule"), "Target FlexibleTimeWindow"),
}
# Headers that moto reads by their prefix.
GRANTS = "GrantFullControl GrantRead GrantReadACP GrantWrite GrantWriteACP"
WHOLE["s3"] |= dict.fromkeys(("CreateBucket", "PutBucketAcl", "PutObject"), GRANTS)
# What is refused with everything in it, and pages that are always the only one.
REFUSED_WHOLE = {"WindowsConfiguration", "OntapConfiguration", "OpenZFSConfiguration"}
PAGES = frozenset(
    [
        "continuationtoken",
        "limit",
        "marker",
        "maxitems",
        "maxkeys",
        "maxrecords",
        "maxresults",
        "nexttoken",
        "pagesize",
    ]
)
GENERAL = {"batch": {"clientToken"}, "ec2": {"DryRun"}, "s3": {"ExpectedBucketOwner"}}


def kind(service: str, operation: str, path: str) -> str:
    """How a member that no code names is treated; empty if it is dropped."""
    table = MEMBERS.get(service, {})
    top = path.split(".", maxsplit=1)[0]
    if top in GENERAL.get(service, ()):
        return "used"
    if path.lower() in PAGES:
        return "one page"
    whole = WHOLE.get(service, {}).get(operation, "")
    if any(path == one or path.startswith(f"{one}.") for one in table.get("kept", {}).get(operation, ())):
        return "kept"
    for name in ("refused", "idle"):
        if is_listed(service, operation, path, (name,)):
            return name
    if top in REFUSED_WHOLE:
        return "refused"
    return "kept" if whole == "*" or top in whole.split() else ""


def is_listed(service: str, operation: str, path: str, kinds: tuple[str, ...] = ("refused", "idle")) -> bool:
    """Return whether the member, or what it is part of, is in the table."""
    table = MEMBERS.get(service, {})
    listed = " ".join(table.get(kind, {}).get(operation, "") for kind in kinds).split()
    return any(path == one or path.startswith(f"{one}.") for one in listed)


def members(shape: Any, path: str = "", above: tuple[str, ...] = ()) -> Iterator[str]:
    if shape is None or shape.name in above:
        return
    if shape.type_name == "list":
        yield from members(shape.member, path, above)
    elif shape.type_name == "structure":
        for name, member in shape.members.items():
            own = f"{path}.{name}" if path else name
            yield own
            yield from members(member, own, (*above, shape.name))


def counted(service: str) -> tuple[Counter[str], list[str]]:
    model = service_model(service)
    counts: Counter[str] = Counter()
    dropped = []
    for operation in FOLLOWED[service]:
        shape = model.operation_model(operation).input_shape
        every = list(members(shape))
        if not is_answered(service, operation):
            counts["refused"] += len(every)
            continue
        unnamed = list(unread(service, operation, shape))
        for path in every:
            lost = any(path == one or path.startswith(f"{one}.") for one in unnamed)
            what = kind(service, operation, path) if lost or is_listed(service, operation, path) else "used"
            counts[what] += 1
            if not what:
                dropped.append(f"{operation} {path}")
    return counts, dropped


@pytest.mark.parametrize("service", FOLLOWED)
def test_no_member_of_a_request_is_dropped(service: str, record_property: Any, capsys: Any) -> None:
    counts, dropped = counted(service)
    with capsys.disabled():
        print(f"\n{service}: {dict(counts)} of {len(FOLLOWED[service])} operations", end="")  # noqa: T201 - the count is the result
    record_property("members", dict(counts))

    assert dropped == []


def _words(listed: str | list[str]) -> list[str]:
    return (listed if isinstance(listed, str) else " ".join(listed)).split()


def test_each_listed_member_is_in_the_model_and_listed_once() -> None:
    for service, kinds in MEMBERS.items():
        seen: list[tuple[str, str]] = []
        for name, operations in kinds.items():
            for operation, listed in operations.items():
                if name == "defaults":
                    assert listed.keys() <= service_model(service).shape_for(operation).members.keys()
                if name == "hidden":
                    shown = {one.removesuffix("?") for one in listed.split()}
                    assert shown <= service_model(service).shape_for(operation).members.keys()
                if name == "fixed":
                    assert operation in service_model(service).operation_names
                    for structure, given in listed.items():
                        assert given.keys() <= service_model(service).shape_for(structure).members.keys()
                if operation == "identity" or name in {"defaults", "hidden", "fixed"}:
                    continue
                known = set(members(service_model(service).operation_model(operation).input_shape))
                paths = list(listed) if name == "kept" else _words(listed)
                assert set(paths) <= known, (service, operation)
                assert operation in FOLLOWED[service]
                seen += [(operation, path) for path in paths if name != "exclusive"]
        assert len(seen) == len(set(seen))


KEY = {"AttributeName": "a", "AttributeType": "S"}
TABLE = {
    "TableName": "t",
    "AttributeDefinitions": [KEY],
    "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
}


@pytest.mark.slow
def test_a_kept_member_is_shown_with_its_resource_until_that_is_made_anew(local_aws: LocalAws) -> None:
    tables = local_aws.client("dynamodb")
    tables.create_table(**TABLE, BillingMode="PAY_PER_REQUEST", TableClass="STANDARD_INFREQUENT_ACCESS")
    assert tables.describe_table(TableName="t")["Table"]["TableClassSummary"] == {
        "TableClass": "STANDARD_INFREQUENT_ACCESS"
    }

    tables.update_table(TableName="t", OnDemandThroughput={"MaxReadRequestUnits": 5})
    shown = tables.describe_table(TableName="t")["Table"]
    assert (shown["OnDemandThroughput"], "TableClassSummary" in shown) == ({"MaxReadRequestUnits": 5}, True)

    tables.delete_table(TableName="t")
    tables.create_table(**TABLE, BillingMode="PAY_PER_REQUEST")
    assert "TableClassSummary" not in tables.describe_table(TableName="t")["Table"]


@pytest.mark.slow
def test_a_function_shows_its_logging_in_every_description(local_aws: LocalAws) -> None:
    role = local_aws.client("iam").create_role(
        RoleName="r",
        AssumeRolePolicyDocument='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"},"Action":"sts:AssumeRole"}]}',
    )["Role"]["Arn"]
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as code:
        code.writestr("index.py", "def handler(event, context): pass")
    functions = local_aws.client("lambda")
    logging: Mapping[str, str] = {"LogFormat": "Text", "LogGroup": "/g"}
    made = functions.create_function(FunctionName="f", Role=role, Runtime="python3.13", Handler="index.handler", Code={"ZipFile": archive.getvalue()}, LoggingConfig={"LogGroup": "/g"})  # fmt: skip
    assert made["LoggingConfig"] == logging
    assert (
        functions.get_function(FunctionName=made["FunctionArn"])["Configuration"]["LoggingConfig"] == logging
    )
    assert functions.list_functions()["Functions"][0]["LoggingConfig"] == logging

    functions.update_function_configuration(FunctionName="f", LoggingConfig={"LogGroup": "/h"})
    shown = functions.get_function_configuration(FunctionName="f")["LoggingConfig"]
    assert shown == {"LogFormat": "Text", "LogGroup": "/h"}


UNUSED = {
    ("ec2", "create_vpc", "Ipv4NetmaskLength of CreateVpc"): {"CidrBlock": "10.0.0.0/16", "Ipv4NetmaskLength": 16},
    ("lambda", "list_functions", "MasterRegion of ListFunctions"): {"MasterRegion": "ALL"},
    ("iam", "list_policies", "PolicyUsageFilter of ListPolicies"): {"PolicyUsageFilter": "PermissionsPolicy"},
    ("s3", "put_object", "SSECustomerAlgorithm of PutObject"): {"Bucket": "mine", "Key": "k", "SSECustomerAlgorithm": "AES256", "SSECustomerKey": "k" * 32},
    ("s3", "list_objects_v2", "OptionalObjectAttributes of ListObjectsV2"): {"Bucket": "mine", "Prefix": "k", "OptionalObjectAttributes": ["RestoreStatus"]},
    ("cloudformation", "delete_stack", "DeletionMode of DeleteStack"): {"StackName": "s", "DeletionMode": "FORCE_DELETE_STACK"},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("asked", UNUSED, ids=lambda asked: asked[2])
def test_an_unused_member_is_refused_by_its_name(local_aws: LocalAws, asked: tuple[str, str, str]) -> None:
    service, method, member = asked
    local_aws.client("s3").create_bucket(Bucket="mine")
    answer = f"The local AWS does not simulate {member}; see `ultracluster docs local-aws`."

    assert refusal(getattr(local_aws.client(service), method), **UNUSED[asked]) == (
        "UnsupportedOperation",
        answer,
    )


@pytest.mark.slow
def test_a_value_that_asks_for_nothing_is_taken(local_aws: LocalAws) -> None:
    assert local_aws.client("ec2").create_vpc(CidrBlock="10.0.0.0/16", Ipv4NetmaskLength=0)["Vpc"]


@pytest.mark.slow
def test_a_dry_run_changes_nothing(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")

    assert refusal(
        ec2.create_launch_template,
        LaunchTemplateName="l",
        LaunchTemplateData={"EbsOptimized": True},
        DryRun=True,
    ) == (
        "DryRunOperation",
        "Request would have succeeded, but DryRun flag is set.",
    )
    assert ec2.describe_launch_templates()["LaunchTemplates"] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("owner", "code"), [("123456789012", "NoSuchBucket"), ("000000000000", "AccessDenied")]
)
def test_a_bucket_is_looked_for_in_the_expected_account_only(
    local_aws: LocalAws, owner: str, code: str
) -> None:
    assert (
        refusal(local_aws.client("s3").get_bucket_location, Bucket="none", ExpectedBucketOwner=owner)[0]
        == code
    )


@pytest.mark.slow
def test_a_resource_begins_in_the_state_that_its_creation_answers(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]
    subnet = ec2.create_subnet(VpcId=vpc["VpcId"], CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    interface = ec2.create_network_interface(SubnetId=subnet)["NetworkInterface"]

    assert (vpc["State"], interface["Status"]) == ("pending", "pending")
    (vpc,) = ec2.describe_vpcs(VpcIds=[vpc["VpcId"]])["Vpcs"]
    (interface,) = ec2.describe_network_interfaces()["NetworkInterfaces"]
    assert (vpc["State"], interface["Status"]) == ("available", "available")


@pytest.mark.slow
def test_what_is_empty_is_left_out_until_it_has_something(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    shown = ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]
    assert shown.keys().isdisjoint({"Tags", "Ipv6CidrBlockAssociationSet"})

    ec2.create_tags(Resources=[vpc], Tags=[{"Key": "team", "Value": "a"}])

    assert ec2.describe_vpcs(VpcIds=[vpc])["Vpcs"][0]["Tags"] == [{"Key": "team", "Value": "a"}]


@pytest.mark.slow
def test_a_member_that_moto_lacks_has_its_value(local_aws: LocalAws) -> None:
    iam, s3 = local_aws.client("iam"), local_aws.client("s3")
    s3.create_bucket(Bucket="data-of-a-team")

    assert iam.list_instance_profiles()["IsTruncated"] is False
    found = s3.list_objects(Bucket="data-of-a-team")
    assert (found["Marker"], found["Prefix"]) == ("", "")


@pytest.mark.slow
def test_what_belongs_to_a_resource_is_answered_with_it(local_aws: LocalAws) -> None:
    ec2, sns = local_aws.client("ec2"), local_aws.client("sns")
    image = ec2.describe_images(Filters=[{"Name": "name", "Values": ["al2023-ami-2023*"]}])["Images"][0]
    assert image["ImageLocation"] == f"amazon/{image['Name']}"

    made = ec2.run_instances(ImageId=image["ImageId"], InstanceType="t3.micro", MinCount=1, MaxCount=1)
    own = [{"Name": "attachment.instance-id", "Values": [made["Instances"][0]["InstanceId"]]}]
    (volume,) = ec2.describe_volumes(Filters=own)["Volumes"]
    assert volume["Attachments"][0]["DeleteOnTermination"] is True

    topic = sns.create_topic(Name="jobs")["TopicArn"]
    assert "DeliveryPolicy" not in sns.get_topic_attributes(TopicArn=topic)["Attributes"]
    policy = '{"http": {"disableSubscriptionOverrides": false}}'
    sns.set_topic_attributes(TopicArn=topic, AttributeName="DeliveryPolicy", AttributeValue=policy)
    assert sns.get_topic_attributes(TopicArn=topic)["Attributes"]["DeliveryPolicy"] == policy


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "records"), [("Gateway", "service-defined"), ("Interface", "ipv4")])
def test_an_endpoint_has_the_dns_records_of_its_type(local_aws: LocalAws, kind: str, records: str) -> None:
    ec2 = local_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    service = f"com.amazonaws.{ec2.meta.region_name}.s3"
    made = ec2.create_vpc_endpoint(VpcId=vpc, ServiceName=service, VpcEndpointType=kind)["VpcEndpoint"]

    assert made["DnsOptions"] == {"DnsRecordIpType": records}
