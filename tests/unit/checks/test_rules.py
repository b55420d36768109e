"""Each rule for templates is broken by an edit of a good template, and kept by one that comes near."""

from typing import Any

import pytest
from tests.unit.checks.defects import DEFECTS, DROP, Defect, with_defect

from ultracluster_checks import Source, check_templates
from ultracluster_checks.table import CHECKS, CODES, NEVER_LEFT_OUT
from ultracluster_checks.template import Templates

REGION = "us-east-2"

# What the rules say of the seeded defects in templates of other people; what is not here is for the schemas.
SEEDED = {
    "a deletion policy that does not exist": "UC5201",
    "a Lustre deployment type that does not exist": "UC5001 UC5005",
    "two subnets that overlap": "UC3105",
    "an event of an association that does not exist": "UC5026",
    "eleven attempts of a job": "UC6104",
    "a job that times out after 30 seconds": "UC6104",
    "no rule for EFA out of the group": "UC3201",
    "EFA let in by addresses": "UC3201",
    "EFA let out as TCP only": "UC3201",
    "a device index beyond the card of trn1": "UC4012",
    "a network card that the type has not": "UC4011 UC4016",
    "a primary interface without an address": "UC4010",
    "half of the EFA interfaces": "UC4016",
    "EFA on a type without EFA": "UC4011 UC4015 UC6402 UC6407",
    "two EFA interfaces on a card": "UC4014 UC4016",
    "a block in a placement group of its template": "UC4020",
    "a block with options of Spot": "UC4202",
    "a market type without a target": "UC4201",
    "an offering where a reservation belongs": "UC4109",
    "the name of a zone of another Region": "UC3102",
    "a block of a type that is not sold in blocks": "UC4016 UC4104 UC6403",
    "fewer vCPUs than a node has": "UC4212 UC6101",
    "more vCPUs at least than at most": "UC4211 UC4214",
    "the latest launch template, whatever that is": "UC4216",
    "BEST_FIT over several types": "UC4016 UC4217",
    "EFA nodes in two subnets": "UC3204",
    "a subnet that gives nodes public addresses": "UC3202",
    "interfaces that outlive their node": "UC3203",
    "user data that Batch cannot merge": "UC4208",
    "user data of 20 KiB": "UC4209",
    "security groups beside interfaces": "UC3205",
    "a subnet with too few addresses": "UC3002",
    "a gap in the node ranges": "UC6404",
    "a main node that is not there": "UC6404",
    "a job of more nodes than there are": "UC6101",
    "one Neuron device too few": "UC6402",
    "one EFA device too few": "UC6403",
    "a Neuron device that the type has not": "UC6402",
    "memory that cannot be registered": "UC6406",
    "an image that moves": "UC6107",
    "more vCPUs than a node has": "UC6407",
    "all the memory of a node": "UC6407",
    "GPUs of Trainium": "UC6407",
    "two addresses of the compile cache": "UC6010",
    "an image that each deployment resolves anew": "UC4206",
    "an image that each launch resolves anew": "UC4206",
    "EFA without a metadata configuration": "UC5005",
    "a size between the steps": "UC5003",
    "a size between the steps of EFA": "UC5003",
    "scratch with a throughput": "UC5002",
    "PERSISTENT_2 with an import path": "UC5202",
    "metadata IOPS that are not sold": "UC5006",
    "a folder of an association inside another": "UC5023",
    "a folder that does not begin at the root": "UC5022",
    "Lustre let in on one of its ports": "UC5203",
    "multi-node jobs on Spot only": "UC6308",
    "SSH from everywhere": "UC3206",
    "Lustre from everywhere": "UC3206",
    "no options for instance metadata": "UC4207",
    "a disk that is not encrypted": "UC5204",
    "a bucket that may become public": "UC5206",
    "a bucket without a policy": "UC5205",
    "a bucket that everybody reads": "UC6421",
    "every action": "UC6420 UC6423",
    "every action of S3": "UC6420",
    "every role to pass on": "UC6423",
    "everything but": "UC6420",
    "an administrator": "UC6422",
    "a function that buys capacity": "UC6425",
    "a job that may buy extensions": "UC6425",
    "a token in user data": "UC6409",
    "a password in the environment of a function": "UC6409",
    "a secret as a parameter with a default": "UC6409",
    "a privileged container": "UC6410",
    "the whole disk of the node in a container": "UC6410",
    "a key for everybody": "UC6421",
    "a key that never changes": "UC5213",
    "a function that everybody calls": "UC6424",
    "an address of a function for everybody": "UC6424",
    "a bucket that is to be deleted": "UC5201",
    "a file system that goes with its stack": "UC5201",
    "a table that goes with its stack": "UC5201",
    "a key that goes with its stack": "UC5201",
    "deletions that reach S3": "UC5208",
    "an environment that every update replaces": "UC4219",
    "an environment whose name blocks its replacement": "UC4218",
    "a table without a way back": "UC5212",
    "checkpoints on scratch": "UC5014",
}

_LT = "LaunchTemplate/LaunchTemplateData"
_CE = "ComputeEnvironment/ComputeResources"
_JOB = "JobDefinition/NodeProperties/NodeRangeProperties/0/Container"
_LUSTRE = "FileSystem/LustreConfiguration"
_BLOCK_ON_BATCH = {
    f"{_LT}/InstanceMarketOptions": {"MarketType": "capacity-block"},
    f"{_LT}/CapacityReservationSpecification": {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}
    },
    f"{_CE}/PlacementGroup": DROP,
}
_GROUP = "arn:aws:resource-groups:us-east-2:123456789012:group/training"
_TIERED = {
    "FileSystem/StorageType": "INTELLIGENT_TIERING",
    "FileSystem/StorageCapacity": DROP,
    f"{_LUSTRE}/PerUnitStorageThroughput": DROP,
    f"{_LUSTRE}/ThroughputCapacity": 4000,
    f"{_LUSTRE}/DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"},
    "DataRepositoryAssociation:Data": DROP,
    "DataRepositoryAssociation:Results": DROP,
}


def _statement(**members: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Resource": "*", **members}


# Code, template, edits.
BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC3002", "block-nodes", {"Subnet/CidrBlock": "10.60.0.0/28", "AutoScalingGroup/MaxSize": "12"}),
    (
        "UC4020",
        "batch-efa",
        {path: value for path, value in _BLOCK_ON_BATCH.items() if not path.endswith("PlacementGroup")},
    ),
    ("UC4216", "batch-efa", {f"{_CE}/LaunchTemplate/Version": DROP}),
    ("UC5205", "lustre-data", {"BucketPolicy/PolicyDocument/Statement/0/Effect": "Allow"}),
    (
        "UC6101",
        "batch-efa",
        {
            "/Parameters/Nodes/Default": 5,
            "JobDefinition/NodeProperties/NodeRangeProperties/0/TargetNodes": "0:",
        },
    ),
    ("UC3207", "batch-efa", {f"{_LT}/NetworkInterfaces/3/InterfaceType": "efa_only"}),
    ("UC4001", "block-nodes", {f"{_LT}/InstanceType": "trn2.96xlarge"}),
    ("UC4001", "block-nodes", {f"{_LT}/InstanceType": "ml.trn2.48xlarge"}),
    ("UC4001", "block-nodes", {f"{_LT}/InstanceType": "Trn2.48xlarge"}),
    ("UC4013", "block-nodes", {f"{_LT}/NetworkInterfaces/4/NetworkCardIndex": 3}),
    (
        "UC4017",
        "batch-efa",
        {
            "/Parameters/NodeType/Default": "trn2.48xlarge",
            f"{_LT}/NetworkInterfaces/1": {
                "NetworkCardIndex": 0,
                "DeviceIndex": 1,
                "InterfaceType": "efa-only",
            },
        },
    ),
    ("UC4106", "batch-efa", {"/Parameters/ZoneId/Default": "use2-az1"}),
    ("UC3205", "batch-efa", {f"{_CE}/SecurityGroupIds": [{"Fn::GetAtt": ["EfaGroup", "GroupId"]}]}),
    (
        "UC3205",
        "batch-efa",
        {f"{_CE}/SecurityGroupIds": {"Fn::Split": [",", {"Fn::GetAtt": ["EfaGroup", "GroupId"]}]}},
    ),
    ("UC4110", "block-nodes", {f"{_LT}/ImageId": "ami-123"}),
    ("UC4120", "batch-efa", {"JobQueue/ComputeEnvironmentOrder": [{"Order": n} for n in range(4)]}),
    ("UC4203", "block-nodes", {f"{_LT}/InstanceMarketOptions": DROP}),
    (
        "UC4204",
        "batch-efa",
        {
            f"{_LT}/CapacityReservationSpecification": {
                "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": _GROUP}
            }
        },
    ),
    ("UC4205", "batch-efa", _BLOCK_ON_BATCH | {f"{_CE}/InstanceTypes": ["trn1.32xlarge", "trn1n.32xlarge"]}),
    (
        "UC4210",
        "block-nodes",
        {"/Resources/Held": {"Type": "AWS::EC2::CapacityReservation", "Properties": {"InstanceCount": 4}}},
    ),
    ("UC4213", "batch-efa", {f"{_CE}/MaxvCpus": 513}),
    ("UC4215", "batch-efa", {f"{_CE}/InstanceTypes": ["trn1n.32xlarge"]}),
    ("UC5004", "lustre-data", {"FileSystem/FileSystemTypeVersion": "2.11"}),
    ("UC5010", "lustre-data", {"FileSystem/StorageType": "HDD"}),
    ("UC5011", "lustre-data", {f"{_LUSTRE}/ThroughputCapacity": 4000}),
    ("UC5012", "lustre-data", _TIERED | {f"{_LUSTRE}/ThroughputCapacity": 4001}),
    ("UC5013", "lustre-data", _TIERED | {f"{_LUSTRE}/DataReadCacheConfiguration/SizingMode": "SOME"}),
    ("UC5015", "lustre-data", {f"{_LUSTRE}/AutomaticBackupRetentionDays": 91}),
    ("UC5020", "lustre-data", {f"{_LUSTRE}/DeploymentType": "SCRATCH_1"}),
    (
        "UC5021",
        "lustre-data",
        {
            f"/Resources/More{n}": {
                "Type": "AWS::FSx::DataRepositoryAssociation",
                "Properties": {
                    "FileSystemId": {"Ref": "FileSystem"},
                    "FileSystemPath": f"/more{n}",
                    "DataRepositoryPath": f"s3://more-{n}",
                },
            }
            for n in range(7)
        },
    ),
    (
        "UC5024",
        "lustre-data",
        {
            "DataRepositoryAssociation:Results/DataRepositoryPath": {
                "Fn::Sub": "s3://${DataBucket}/data/results/"
            }
        },
    ),
    ("UC5025", "lustre-data", {"DataRepositoryAssociation:Results/DataRepositoryPath": "s3:///results"}),
    (
        "UC5027",
        "lustre-data",
        {
            f"{_LUSTRE}/EfaEnabled": True,
            "/Resources/Nodes": {
                "Type": "AWS::EC2::LaunchTemplate",
                "Properties": {"LaunchTemplateData": {"InstanceType": "trn2.48xlarge"}},
            },
        },
    ),
    ("UC5207", "lustre-data", {"Bucket/AccessControl": "PublicRead"}),
    ("UC5209", "lustre-data", {"Bucket/VersioningConfiguration": DROP}),
    (
        "UC5210",
        "lustre-data",
        {"Bucket/LifecycleConfiguration": {"Rules": [{"Status": "Enabled", "ExpirationInDays": 30}]}},
    ),
    (
        "UC5211",
        "batch-efa",
        {
            "/Resources/Far": {"Type": "AWS::EC2::Subnet", "Properties": {"AvailabilityZoneId": "use2-az1"}},
            "/Resources/Files": {
                "Type": "AWS::FSx::FileSystem",
                "Properties": {"FileSystemType": "LUSTRE", "SubnetIds": [{"Ref": "Far"}]},
            },
        },
    ),
    ("UC6108", "batch-efa", {f"{_JOB}/Image": "123456789012.dkr.ecr.eu-west-1.amazonaws.com/train:1"}),
    (
        "UC6307",
        "batch-efa",
        _BLOCK_ON_BATCH
        | {"JobQueue/JobStateTimeLimitActions": [{"Reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"}]},
    ),
    ("UC6401", "batch-efa", {f"{_JOB}/LinuxParameters/Devices/16/HostPath": "/dev/infiniband/"}),
    (
        "UC6401",
        "batch-efa",
        {f"{_JOB}/Volumes": [{"Name": "efa", "Host": {"SourcePath": "/dev/infiniband"}}]},
    ),
    ("UC6405", "batch-efa", {f"{_JOB}/LinuxParameters/SharedMemorySize": 64}),
    ("UC6406", "batch-efa", {f"{_JOB}/Ulimits/0/SoftLimit": 65536}),
    ("UC6408", "batch-efa", {f"{_JOB}/Environment/0/Value": "sockets"}),
    (
        "UC6410",
        "batch-efa",
        {f"{_JOB}/Volumes": [{"Name": "run", "Host": {"SourcePath": "/var/run/docker.sock"}}]},
    ),
)

# A family of tomorrow may have any size.
KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    # Just inside of a bound.
    ("batch-efa", {f"{_LT}/NetworkInterfaces/5/DeviceIndex": 4}),
    ("batch-efa", {f"{_CE}/MaxvCpus": 640}),
    (
        "batch-efa",
        {"JobDefinition/RetryStrategy/Attempts": 10, "JobDefinition/Timeout/AttemptDurationSeconds": 60},
    ),
    ("batch-efa", {"JobDefinition/NodeProperties/MainNode": 3}),
    ("batch-efa", {"JobDefinition/NodeProperties/NodeRangeProperties/0/TargetNodes": ":"}),
    ("batch-efa", {f"{_JOB}/LinuxParameters/SharedMemorySize": 65}),
    ("batch-efa", {f"{_JOB}/ResourceRequirements/1/Value": "507821"}),
    ("batch-efa", {"JobQueue/ComputeEnvironmentOrder": [{"Order": n} for n in range(3)]}),
    ("batch-efa", {"Subnet:Private/CidrBlock": "10.40.1.0/24"}),
    ("block-nodes", {"Subnet/CidrBlock": "10.60.0.0/28", "AutoScalingGroup/MaxSize": "11"}),
    ("lustre-data", {"/Parameters/CapacityGiB/Default": 1200}),
    ("lustre-data", {f"{_LUSTRE}/MetadataConfiguration/Iops": 192_000}),
    (
        "lustre-data",
        {
            f"{_LUSTRE}/DeploymentType": "SCRATCH_2",
            f"{_LUSTRE}/PerUnitStorageThroughput": DROP,
            f"{_LUSTRE}/MetadataConfiguration": DROP,
        },
    ),
    ("lustre-data", _TIERED | {f"{_LUSTRE}/MetadataConfiguration/Iops": 6000}),
    ("lustre-data", {"DataRepositoryAssociation:Results/FileSystemPath": "/data2"}),
    (
        "lustre-data",
        {"Bucket/LifecycleConfiguration": {"Rules": [{"Status": "Disabled", "ExpirationInDays": 30}]}},
    ),
    ("block-nodes", {f"{_LT}/InstanceType": "trn9.48xlarge"}),
    # The same, written in another way.
    ("batch-efa", {f"{_CE}/LaunchTemplate/Version": "3"}),
    ("batch-efa", {f"{_CE}/LaunchTemplate": {"Fn::If": ["Pinned", {"Version": "1"}, {"Version": "2"}]}}),
    ("batch-efa", {f"{_JOB}/Image": "train@sha256:" + "0" * 64}),
    (
        "batch-efa",
        {
            f"{_JOB}/Image": {
                "Fn::Sub": "${AWS::AccountId}.dkr.ecr.us-east-2.amazonaws.com/train:${AWS::StackName}"
            }
        },
    ),
    ("batch-efa", {f"{_LT}/MetadataOptions": {"HttpEndpoint": "disabled"}}),
    ("batch-efa", {f"{_LT}/UserData": {"Fn::Base64": "Content-Type: multipart/mixed; boundary=x\n"}}),
    (
        "batch-efa",
        {
            "SecurityGroup/SecurityGroupIngress": [
                {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": "10.40.0.0/16"}
            ]
        },
    ),
    ("batch-efa", {"/Parameters/NodeType/Default": "m7i.48xlarge", f"{_LT}/NetworkInterfaces": DROP}),
    (
        "batch-efa",
        {
            f"{_LT}/CapacityReservationSpecification": {
                "CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}
            }
        },
    ),
    (
        "batch-efa",
        {
            f"{_LT}/CapacityReservationSpecification": {
                "CapacityReservationPreference": "capacity-reservations-only",
                "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": _GROUP},
            }
        },
    ),
    ("batch-efa", {f"{_CE}/PlacementGroup": DROP} | _BLOCK_ON_BATCH),
    (
        "block-nodes",
        {f"{_LT}/Placement": {"GroupName": {"Fn::If": ["Placed", "training", {"Ref": "AWS::NoValue"}]}}},
    ),
    ("block-nodes", {f"{_LT}/Placement": {"GroupName": {"Ref": "AWS::NoValue"}}}),
    ("block-nodes", {"/Parameters/ReservationId/Default": DROP}),
    ("block-nodes", {"Role:Watch/Policies/0/PolicyDocument/Statement/0/Action": "ec2:Describe*"}),
    (
        "block-nodes",
        {
            "Role:Watch/Policies/0/PolicyDocument/Statement/+": _statement(
                Action="iam:PassRole", Resource="arn:aws:iam::123456789012:role/nodes"
            )
        },
    ),
    (
        "block-nodes",
        {
            "Role:Watch/Policies/0/PolicyDocument/Statement/+": {
                "Effect": "Deny",
                "Action": "*",
                "Resource": "*",
            }
        },
    ),
    (
        "block-nodes",
        {
            "Role:Watch/Policies/0/PolicyDocument/Statement/+": _statement(
                Action="ec2:PurchaseCapacityBlock", Condition={"StringLike": {"aws:RequestTag/uc:po": "*"}}
            )
        },
    ),
    (
        "block-nodes",
        {"Function/Environment/Variables/DB_PASSWORD": "{{resolve:secretsmanager:db:SecretString:password}}"},
    ),
    ("block-nodes", {"Permission/Principal": "*", "Permission/PrincipalOrgID": "o-123"}),
    ("lustre-data", {"Table/@DeletionPolicy": "RetainExceptOnCreate"}),
    ("lustre-data", {"Key/KeySpec": "RSA_4096", "Key/EnableKeyRotation": DROP}),
    (
        "lustre-data",
        {"BucketPolicy/PolicyDocument/Statement/0/Condition": {"Bool": {"aws:SecureTransport": ["false"]}}},
    ),
    (
        "lustre-data",
        {
            "BucketPolicy/PolicyDocument/Statement/+": _statement(
                Action="s3:GetObject",
                Principal="*",
                Condition={"StringEquals": {"aws:PrincipalOrgID": "o-123"}},
            )
        },
    ),
    (
        "lustre-data",
        {
            "SecurityGroup/SecurityGroupIngress": [
                {"IpProtocol": "-1", "SourceSecurityGroupId": "sg-0123456789abcdef0"}
            ]
        },
    ),
)


def _codes(foreign: dict[str, Source], base: str, edits: dict[str, Any]) -> list[str]:
    body = with_defect(dict(foreign[base].body), Defect("hpc", base, str(edits), tuple(edits.items())))
    report = check_templates([Source(name=base, body=body, region=REGION)])
    return sorted({finding.code for finding in report.findings})


_SEEDED_HERE = [defect for defect in DEFECTS if "/" not in defect.base]


@pytest.mark.parametrize("name", ["batch-efa", "block-nodes", "lustre-data"])
def test_a_good_template_of_other_people_breaks_nothing(foreign: dict[str, Source], name: str) -> None:
    assert check_templates([foreign[name]]).findings == ()


@pytest.mark.parametrize("defect", _SEEDED_HERE, ids=lambda defect: defect.name)
def test_a_seeded_defect_breaks_the_rules_that_it_is_about(
    foreign: dict[str, Source], defect: Defect
) -> None:
    body = with_defect(dict(foreign[defect.base].body), defect)
    templates = Templates([Source(name="", body=body, region=REGION)])
    found = {check: {problem.code for problem in check.find(templates)} for check in CHECKS}

    assert sorted(set().union(*found.values())) == SEEDED.get(defect.name, "").split()
    assert [check for check, codes in found.items() if not codes <= set(check.codes)] == []


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_an_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert code in _codes(foreign, base, edits)


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_an_edit_that_comes_near_breaks_nothing(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert _codes(foreign, base, edits) == []


def test_every_rule_is_broken_by_some_edit() -> None:
    broken = {code for codes in SEEDED.values() for code in codes.split()} | {code for code, _, _ in BROKEN}

    assert broken == CODES


def test_a_rule_is_in_the_table_once() -> None:
    assert len({check.find for check in CHECKS}) == len(CHECKS)
    assert NEVER_LEFT_OUT <= CODES


@pytest.mark.parametrize(("size", "broken"), [(16 * 1024, False), (16 * 1024 + 1, True)])
def test_user_data_has_16_kib_at_most(foreign: dict[str, Source], size: int, broken: bool) -> None:
    data = "MIME-Version: 1.0\n".ljust(size, "#")

    assert ("UC4209" in _codes(foreign, "batch-efa", {f"{_LT}/UserData": {"Fn::Base64": data}})) is broken
