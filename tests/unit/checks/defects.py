"""Seeded defects: small edits of good templates, each one a mistake that people make.

They were written down before the rules that look for them, from the reference of bad inputs and the pitfalls of the field.
A base is a stack of our quick start, as tests/golden keeps it, or a template as people write them (foreign/*.yaml).
"""

import copy
import json
from dataclasses import dataclass
from typing import Any, Final, Literal

__all__ = ["DEFECTS", "DROP", "Defect", "with_defect"]

Subject = Literal["schema", "hpc", "security", "state"]


class _Drop:
    """Stands for taking a part of a template away."""

    def __repr__(self) -> str:
        return "DROP"


DROP: Final = _Drop()


@dataclass(frozen=True, slots=True)
class Defect:
    """One mistake.

    Attributes:
        subject: What kind of mistake it is.
        base: The good template: a stack such as ``quickstart/Network``, or a file such as ``batch-efa``.
        name: What is wrong.
        edits: Where, and what stands there instead. A path begins with a resource, by its type or by ``Type:prefix`` of its
            logical id; what follows is below its properties, after ``@`` below the resource itself. ``/Name`` begins at the
            top of the template. ``+`` appends to a list.
    """

    subject: Subject
    base: str
    name: str
    edits: tuple[tuple[str, Any], ...]


def with_defect(template: dict[str, Any], defect: Defect) -> dict[str, Any]:
    """Give a copy of a good template with the mistake in it."""
    edited = copy.deepcopy(template)
    for path, value in defect.edits:
        first, *keys = path.strip("/").split("/")
        if path.startswith("/"):
            holder: Any = edited
            keys = [first, *keys]
        else:
            holder = edited["Resources"][_logical_id(edited, first)]
            if keys and keys[0].startswith("@"):
                keys[0] = keys[0][1:]
            elif keys:
                keys = ["Properties", *keys]
            else:
                holder, keys = edited["Resources"], [_logical_id(edited, first)]
        for key in keys[:-1]:
            holder = holder[int(key)] if isinstance(holder, list) else holder.setdefault(key, {})
        _put(holder, keys[-1], copy.deepcopy(value))
    assert json.dumps(edited) != json.dumps(template), f"{defect.name} changes nothing"
    return edited


def _put(holder: Any, key: str, value: Any) -> None:
    if isinstance(holder, list):
        if key == "+":
            holder.append(value)
        elif isinstance(value, _Drop):
            del holder[int(key)]
        else:
            holder[int(key)] = value
    elif isinstance(value, _Drop):
        del holder[key]
    else:
        holder[key] = value


def _logical_id(template: dict[str, Any], wanted: str) -> str:
    type_name, _, prefix = wanted.partition(":")
    found = [
        logical_id
        for logical_id, resource in template["Resources"].items()
        if resource["Type"].endswith(f"::{type_name}") and logical_id.startswith(prefix)
    ]
    assert found, f"no {wanted}"
    return found[0]


_LT = "LaunchTemplate/LaunchTemplateData"
_CE = "ComputeEnvironment/ComputeResources"
_JOB = "JobDefinition/NodeProperties/NodeRangeProperties/0/Container"
_LUSTRE = "FileSystem/LustreConfiguration"
_EVERYBODY = "0.0.0.0/0"
_OURS, _NET, _DATA = "quickstart/Cluster", "quickstart/Network", "quickstart/Storage"
_BATCH, _BLOCK, _FSX = "batch-efa", "block-nodes", "lustre-data"


def _open(port: int) -> dict[str, Any]:
    return {"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "CidrIp": _EVERYBODY}


def _allow(action: Any, resource: Any = "*", **rest: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **rest}


def _device(path: str) -> dict[str, Any]:
    return {"HostPath": path, "ContainerPath": path, "Permissions": ["READ", "WRITE"]}


# One row a line, so that they can be read and counted.
# fmt: off
_ROWS: tuple[tuple[Subject, str, str, dict[str, Any]], ...] = (
    # What CloudFormation or the service refuses, for any user.
    ("schema", _OURS, "an allocation strategy that does not exist", {f"{_CE}/AllocationStrategy": "BEST"}),
    ("schema", _FSX, "a Lustre deployment type that does not exist", {f"{_LUSTRE}/DeploymentType": "PERSISTENT_3"}),
    ("schema", _OURS, "an interface type that does not exist", {f"{_LT}/NetworkInterfaces/3/InterfaceType": "efa_only"}),
    ("schema", _BATCH, "a trust policy without a principal", {"Role:NodeRole/AssumeRolePolicyDocument/Statement/0/Principal": DROP}),
    ("schema", _FSX, "a deletion policy that does not exist", {"Bucket/@DeletionPolicy": "Keep"}),
    ("schema", _FSX, "an event of an association that does not exist", {"DataRepositoryAssociation/S3/AutoImportPolicy/Events/0": "CREATED"}),
    ("schema", _BATCH, "eleven attempts of a job", {"JobDefinition/RetryStrategy/Attempts": 11}),
    ("schema", _BATCH, "a job that times out after 30 seconds", {"JobDefinition/Timeout/AttemptDurationSeconds": 30}),
    ("schema", _OURS, "an image id that is none", {f"{_LT}/ImageId": "ami-trn2"}),
    # What is accepted, and leaves nodes without capacity or without a fabric.
    ("hpc", _NET, "no rule for EFA into the group", {"SecurityGroupIngress:NetworkEfa": DROP}),
    ("hpc", _BATCH, "no rule for EFA out of the group", {"SecurityGroupEgress": DROP}),
    ("hpc", _BATCH, "EFA let in by addresses", {"SecurityGroupIngress": {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": {"GroupId": {"Fn::GetAtt": ["EfaGroup", "GroupId"]}, "IpProtocol": "-1", "CidrIp": "10.40.0.0/16"}}}),
    ("hpc", _BLOCK, "EFA let out as TCP only", {"SecurityGroupEgress/IpProtocol": "tcp", "SecurityGroupEgress/FromPort": 0, "SecurityGroupEgress/ToPort": 65535}),
    ("hpc", _OURS, "a device index beyond the card", {f"{_LT}/NetworkInterfaces/5/DeviceIndex": 2}),
    ("hpc", _BATCH, "a device index beyond the card of trn1", {f"{_LT}/NetworkInterfaces/5/DeviceIndex": 5}),
    ("hpc", _BLOCK, "a network card that the type has not", {f"{_LT}/NetworkInterfaces/15/NetworkCardIndex": 16}),
    ("hpc", _OURS, "two interfaces in one place", {f"{_LT}/NetworkInterfaces/4/NetworkCardIndex": 3}),
    ("hpc", _BATCH, "a primary interface without an address", {f"{_LT}/NetworkInterfaces/0/InterfaceType": "efa-only"}),
    ("hpc", _BLOCK, "half of the EFA interfaces", {f"{_LT}/NetworkInterfaces/8": DROP, f"{_LT}/NetworkInterfaces/9": DROP}),
    ("hpc", _BATCH, "EFA on a type without EFA", {"/Parameters/NodeType/Default": "trn1.2xlarge", f"{_CE}/MaxvCpus": 32}),
    ("hpc", _BATCH, "two EFA interfaces on a card", {f"{_LT}/NetworkInterfaces/2/NetworkCardIndex": 1, f"{_LT}/NetworkInterfaces/2/DeviceIndex": 2}),
    ("hpc", _OURS, "no slot for the interface of a task", {f"{_LT}/NetworkInterfaces/0/InterfaceType": "interface", f"{_LT}/NetworkInterfaces/+": {"NetworkCardIndex": 0, "DeviceIndex": 1, "InterfaceType": "efa-only", "DeleteOnTermination": True}}),
    ("hpc", _BLOCK, "a block in a placement group of its template", {f"{_LT}/Placement": {"GroupName": "training"}}),
    ("hpc", _OURS, "a block in a placement group of its environment", {f"{_CE}/PlacementGroup": "training"}),
    ("hpc", _OURS, "a block on Spot", {f"{_CE}/Type": "SPOT", f"{_CE}/AllocationStrategy": "SPOT_CAPACITY_OPTIMIZED"}),
    ("hpc", _BLOCK, "a block with options of Spot", {f"{_LT}/InstanceMarketOptions/SpotOptions": {"SpotInstanceType": "one-time"}}),
    ("hpc", _OURS, "a target without a market type", {f"{_LT}/InstanceMarketOptions": DROP}),
    ("hpc", _BLOCK, "a market type without a target", {f"{_LT}/CapacityReservationSpecification": DROP}),
    ("hpc", _OURS, "a block that any reservation serves", {f"{_LT}/CapacityReservationSpecification": {"CapacityReservationPreference": "open"}}),
    ("hpc", _BLOCK, "an offering where a reservation belongs", {"/Parameters/ReservationId/Default": "cb-0a1b2c3d4e5f60718"}),
    ("hpc", _BATCH, "a block of a type that is not sold in blocks", {"/Parameters/NodeType/Default": "trn1n.32xlarge", f"{_LT}/InstanceMarketOptions": {"MarketType": "capacity-block"}, f"{_LT}/CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}}, f"{_CE}/PlacementGroup": DROP}),
    ("hpc", _OURS, "an instance type that does not exist", {f"{_CE}/InstanceTypes/0": "trn2.96xlarge"}),
    ("hpc", _OURS, "another type in the template than in the environment", {f"{_LT}/InstanceType": "trn1.32xlarge"}),
    ("hpc", _OURS, "a block with two instance types", {f"{_CE}/InstanceTypes": ["trn2.48xlarge", "trn1.32xlarge"], f"{_LT}/InstanceType": DROP}),
    ("hpc", _OURS, "the usual 256 vCPUs for four nodes", {f"{_CE}/MaxvCpus": 256}),
    ("hpc", _BATCH, "fewer vCPUs than a node has", {f"{_CE}/MaxvCpus": 96}),
    ("hpc", _BATCH, "more vCPUs at least than at most", {f"{_CE}/MinvCpus": 1024}),
    ("hpc", _OURS, "nodes that run before there are jobs", {f"{_CE}/MinvCpus": 768}),
    ("hpc", _BATCH, "the latest launch template, whatever that is", {f"{_CE}/LaunchTemplate/Version": "$Latest"}),
    ("hpc", _OURS, "no version of the launch template", {f"{_CE}/LaunchTemplate/Version": DROP}),
    ("hpc", _OURS, "BEST_FIT in place, which AWS Batch refuses", {"ComputeEnvironment/ReplaceComputeEnvironment": False}),
    ("hpc", _BATCH, "BEST_FIT over several types", {f"{_CE}/AllocationStrategy": "BEST_FIT", f"{_CE}/InstanceTypes": ["trn1.32xlarge", "trn1n.32xlarge"], f"{_LT}/InstanceType": DROP}),
    ("hpc", _BATCH, "EFA nodes in two subnets", {f"{_CE}/Subnets": [{"Ref": "PrivateSubnet"}, {"Ref": "PublicSubnet"}]}),
    ("hpc", _OURS, "a public address with many interfaces", {f"{_LT}/NetworkInterfaces/0/AssociatePublicIpAddress": True}),
    ("hpc", _BATCH, "a subnet that gives nodes public addresses", {"Subnet:Private/MapPublicIpOnLaunch": True}),
    ("hpc", _BLOCK, "interfaces that outlive their node", {f"{_LT}/NetworkInterfaces/7/DeleteOnTermination": DROP}),
    ("hpc", _BATCH, "user data that Batch cannot merge", {f"{_LT}/UserData": {"Fn::Base64": "#!/bin/bash\necho hello\n"}}),
    ("hpc", _BATCH, "user data of 20 KiB", {f"{_LT}/UserData": {"Fn::Base64": 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="=="\n\n--==\n' + "#" * 20_480 + "\n--==--\n"}}),
    ("hpc", _BATCH, "security groups beside interfaces", {f"{_LT}/SecurityGroupIds": [{"Fn::GetAtt": ["EfaGroup", "GroupId"]}]}),
    ("hpc", _BLOCK, "a subnet with too few addresses", {"Subnet/CidrBlock": "10.60.0.0/28", "AutoScalingGroup/MaxSize": "20"}),
    ("hpc", _BATCH, "a gap in the node ranges", {"JobDefinition/NodeProperties/NodeRangeProperties/0/TargetNodes": "0:2"}),
    ("hpc", _BATCH, "a main node that is not there", {"JobDefinition/NodeProperties/MainNode": 4}),
    ("hpc", _OURS, "a node range without its main node", {"JobDefinition/NodeProperties/NodeRangeProperties/0/TargetNodes": "1:"}),
    ("hpc", _BATCH, "a job of more nodes than there are", {"/Parameters/Nodes/Default": 8, "JobDefinition/NodeProperties/NodeRangeProperties/0/TargetNodes": "0:7"}),
    ("hpc", _OURS, "the whole folder of EFA devices", {f"{_JOB}/LinuxParameters/Devices/31": _device("/dev/infiniband")}),
    ("hpc", _BATCH, "one Neuron device too few", {f"{_JOB}/LinuxParameters/Devices/15": DROP}),
    ("hpc", _OURS, "no devices at all", {f"{_JOB}/LinuxParameters/Devices": DROP}),
    ("hpc", _BATCH, "one EFA device too few", {f"{_JOB}/LinuxParameters/Devices/23": DROP}),
    ("hpc", _BATCH, "a Neuron device that the type has not", {f"{_JOB}/LinuxParameters/Devices/+": _device("/dev/neuron16")}),
    ("hpc", _OURS, "64 MiB of shared memory", {f"{_JOB}/LinuxParameters/SharedMemorySize": DROP}),
    ("hpc", _BATCH, "memory that cannot be registered", {f"{_JOB}/Ulimits": DROP}),
    ("hpc", _BATCH, "an image that moves", {"/Parameters/ImageTag/Default": "latest"}),
    ("hpc", _OURS, "an image without a tag", {f"{_JOB}/Image": "123456789012.dkr.ecr.us-east-2.amazonaws.com/training"}),
    ("hpc", _OURS, "an image in another Region", {f"{_JOB}/Image": "123456789012.dkr.ecr.us-west-2.amazonaws.com/training:1"}),
    ("hpc", _BATCH, "more vCPUs than a node has", {f"{_JOB}/ResourceRequirements/0/Value": "192"}),
    ("hpc", _BATCH, "all the memory of a node", {f"{_JOB}/ResourceRequirements/1/Value": "524288"}),
    ("hpc", _BATCH, "GPUs of Trainium", {f"{_JOB}/ResourceRequirements/+": {"Type": "GPU", "Value": "16"}}),
    ("hpc", _BATCH, "two addresses of the compile cache", {f"{_JOB}/Environment/2/Value": "--model-type=transformer --cache_dir=/tmp/cache"}),
    ("hpc", _OURS, "jobs cancelled while they wait for a block", {"JobQueue/JobStateTimeLimitActions": [{"Action": "CANCEL", "MaxTimeSeconds": 600, "Reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "State": "RUNNABLE"}]}),
    ("hpc", _BATCH, "an image that each deployment resolves anew", {"/Parameters/AmiId/Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", "/Parameters/AmiId/Default": "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"}),
    ("hpc", _BLOCK, "an image that each launch resolves anew", {f"{_LT}/ImageId": "resolve:ssm:/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"}),
    ("hpc", _DATA, "EFA for clients that cannot", {f"{_LUSTRE}/EfaEnabled": True, f"{_LUSTRE}/PerUnitStorageThroughput": 250, "FileSystem/StorageCapacity": 19200}),
    ("hpc", _FSX, "EFA without a metadata configuration", {f"{_LUSTRE}/EfaEnabled": True, f"{_LUSTRE}/MetadataConfiguration": DROP}),
    ("hpc", _FSX, "a size between the steps", {"/Parameters/CapacityGiB/Default": 3000}),
    ("hpc", _DATA, "a throughput that is no tier", {f"{_LUSTRE}/PerUnitStorageThroughput": 333}),
    ("hpc", _FSX, "a size between the steps of EFA", {f"{_LUSTRE}/EfaEnabled": True, "/Parameters/CapacityGiB/Default": 12000}),
    ("hpc", _FSX, "scratch with a throughput", {f"{_LUSTRE}/DeploymentType": "SCRATCH_2", f"{_LUSTRE}/MetadataConfiguration": DROP}),
    ("hpc", _DATA, "PERSISTENT_2 with Lustre 2.10", {"FileSystem/FileSystemTypeVersion": "2.10"}),
    ("hpc", _FSX, "PERSISTENT_2 with an import path", {f"{_LUSTRE}/ImportPath": "s3://my-data"}),
    ("hpc", _FSX, "metadata IOPS that are not sold", {f"{_LUSTRE}/MetadataConfiguration/Iops": 5000}),
    ("hpc", _FSX, "a folder of an association inside another", {"DataRepositoryAssociation:Results/FileSystemPath": "/data/results"}),
    ("hpc", _FSX, "a folder that does not begin at the root", {"DataRepositoryAssociation:Results/FileSystemPath": "results"}),
    ("hpc", _FSX, "Lustre let in on one of its ports", {"SecurityGroup/SecurityGroupIngress/1": DROP, "SecurityGroupIngress/ToPort": 988}),
    ("hpc", _BATCH, "multi-node jobs on Spot only", {f"{_CE}/Type": "SPOT", f"{_CE}/AllocationStrategy": "SPOT_CAPACITY_OPTIMIZED"}),
    ("hpc", _OURS, "a queue with four environments", {"JobQueue/ComputeEnvironmentOrder": [{"Order": n, "ComputeEnvironment": f"arn:aws:batch:us-east-2:123456789012:compute-environment/n{n}"} for n in range(1, 5)]}),
    ("hpc", _OURS, "EFA turned off in the job", {f"{_JOB}/Environment/3/Value": "tcp"}),
    # What lets strangers in, or lets our own do more than they need.
    ("security", _BATCH, "SSH from everywhere", {"SecurityGroup/SecurityGroupIngress": [_open(22)]}),
    ("security", _NET, "everything from everywhere", {"SecurityGroupIngress:NetworkEndpoint/SourceSecurityGroupId": DROP, "SecurityGroupIngress:NetworkEndpoint/CidrIpv6": "::/0"}),
    ("security", _FSX, "Lustre from everywhere", {"SecurityGroup/SecurityGroupIngress/0": _open(988)}),
    ("security", _OURS, "instance metadata without a token", {f"{_LT}/MetadataOptions/HttpTokens": "optional"}),
    ("security", _BATCH, "no options for instance metadata", {f"{_LT}/MetadataOptions": DROP}),
    ("security", _BLOCK, "a disk that is not encrypted", {f"{_LT}/BlockDeviceMappings/0/Ebs/Encrypted": False}),
    ("security", _OURS, "a disk that says nothing about encryption", {f"{_LT}/BlockDeviceMappings/0/Ebs/Encrypted": DROP}),
    ("security", _BATCH, "every action", {"Role:JobRole/Policies/0/PolicyDocument/Statement/+": _allow("*")}),
    ("security", _BLOCK, "every action of S3", {"Role:NodeRole/Policies/0/PolicyDocument/Statement/+": _allow(["s3:*"])}),
    ("security", _BLOCK, "every role to pass on", {"Role:Watch/Policies/0/PolicyDocument/Statement/+": _allow("iam:PassRole")}),
    ("security", _BATCH, "everything but", {"Role:JobRole/Policies/0/PolicyDocument/Statement/+": {"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}}),
    ("security", _OURS, "a role for everybody", {"Role/AssumeRolePolicyDocument/Statement/0/Principal": {"AWS": "*"}}),
    ("security", _BATCH, "an administrator", {"Role:NodeRole/ManagedPolicyArns/+": "arn:aws:iam::aws:policy/AdministratorAccess"}),
    ("security", _BLOCK, "a function that buys capacity", {"Role:Watch/Policies/0/PolicyDocument/Statement/+": _allow(["ec2:DescribeCapacityBlockOfferings", "ec2:PurchaseCapacityBlock"])}),
    ("security", _BATCH, "a job that may buy extensions", {"Role:JobRole/Policies/0/PolicyDocument/Statement/+": _allow("ec2:Purchase*")}),
    ("security", _OURS, "an access key in the environment of a job", {f"{_JOB}/Environment/+": {"Name": "KEY_ID", "Value": "AKIAIOSFODNN7EXAMPLE"}}),
    ("security", _BATCH, "a token in user data", {f"{_LT}/UserData": {"Fn::Base64": 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="=="\n\n--==\n#!/bin/bash\nexport HF=hf_abcdefghijklmnopqrstuvwxyzABCDEFGH\n--==--\n'}}),
    ("security", _BLOCK, "a password in the environment of a function", {"Function/Environment/Variables/DB_PASSWORD": "correct horse battery staple"}),
    ("security", _BATCH, "a secret as a parameter with a default", {"/Parameters/WandbApiKey": {"Type": "String", "Default": "0123456789abcdef0123456789abcdef01234567"}, f"{_JOB}/Environment/+": {"Name": "WANDB_API_KEY", "Value": {"Ref": "WandbApiKey"}}}),
    ("security", _BATCH, "a privileged container", {f"{_JOB}/Privileged": True}),
    ("security", _BATCH, "the whole disk of the node in a container", {f"{_JOB}/Volumes": [{"Name": "root", "Host": {"SourcePath": "/"}}], f"{_JOB}/MountPoints": [{"SourceVolume": "root", "ContainerPath": "/host"}]}),
    # What loses data or running jobs later.
    ("state", _DATA, "a bucket that goes with its stack", {"Bucket/@DeletionPolicy": DROP}),
    ("state", _FSX, "a bucket that is to be deleted", {"Bucket/@DeletionPolicy": "Delete"}),
    ("state", _DATA, "a bucket that goes when it is replaced", {"Bucket/@UpdateReplacePolicy": DROP}),
    ("state", _FSX, "a file system that goes with its stack", {"FileSystem/@DeletionPolicy": DROP}),
    ("state", _DATA, "a file system that goes when it is replaced", {"FileSystem/@UpdateReplacePolicy": "Delete"}),
    ("state", _FSX, "deletions that reach S3", {"DataRepositoryAssociation/S3/AutoExportPolicy/Events/+": "DELETED"}),
    ("state", _DATA, "checkpoints without versions", {"Bucket/VersioningConfiguration/Status": "Suspended"}),
    ("state", _OURS, "jobs ended by an update", {"ComputeEnvironment/UpdatePolicy/TerminateJobsOnUpdate": True}),
    ("state", _BATCH, "an environment that every update replaces", {"ComputeEnvironment/ReplaceComputeEnvironment": DROP}),
    ("state", _BATCH, "an environment whose name blocks its replacement", {"ComputeEnvironment/ComputeEnvironmentName": "training"}),
    ("state", _DATA, "checkpoints that expire in a day", {"Bucket/LifecycleConfiguration/Rules/+": {"Id": "tidy", "Status": "Enabled", "ExpirationInDays": 1}}),
    ("state", _FSX, "checkpoints on scratch", {f"{_LUSTRE}/DeploymentType": "SCRATCH_2", f"{_LUSTRE}/PerUnitStorageThroughput": DROP, f"{_LUSTRE}/MetadataConfiguration": DROP, f"{_LUSTRE}/AutomaticBackupRetentionDays": 7}),
)
# fmt: on

DEFECTS: Final = tuple(
    Defect(subject, base, name, tuple(edits.items())) for subject, base, name, edits in _ROWS
)
