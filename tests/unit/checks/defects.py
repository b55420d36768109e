"""Edits of templates, and mistakes that people make, of rules whose own tests have none.

A mistake is in a template as people write them (foreign/*.yaml).
"""

import copy
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["DEFECTS", "DROP", "Edits", "edited"]


class _Drop:
    """Stands for taking a part of a template away."""

    def __repr__(self) -> str:
        return "DROP"


DROP: Final = _Drop()
Edits = Mapping[str, Any]


def edited(template: Mapping[str, Any], edits: Edits) -> dict[str, Any]:
    """Give a copy of a template with edits in it.

    Args:
        template: The template.
        edits: Where, and what stands there instead. A path begins with a resource, by its type or by ``Type:prefix`` of its
            logical id; what follows is below its properties, after ``@`` below the resource itself. ``/Name`` begins at the
            top of the template. ``+`` appends to a list.
    """
    result = copy.deepcopy(dict(template))
    for path, value in edits.items():
        first, *keys = path.strip("/").split("/")
        if path.startswith("/"):
            holder: Any = result
            keys = [first, *keys]
        else:
            holder = result["Resources"][_logical_id(result, first)]
            if keys and keys[0].startswith("@"):
                keys[0] = keys[0][1:]
            elif keys:
                keys = ["Properties", *keys]
            else:
                holder, keys = result["Resources"], [_logical_id(result, first)]
        for key in keys[:-1]:
            holder = holder[int(key)] if isinstance(holder, list) else holder.setdefault(key, {})
        _put(holder, keys[-1], copy.deepcopy(value))
    assert result != template, f"{edits} changes nothing"
    return result


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
_OURS, _NET, _DATA = "quickstart/Cluster", "quickstart/Network", "quickstart/Storage"
_BATCH, _BLOCK, _FSX = "batch-efa", "block-nodes", "lustre-data"


# One row a line, so that they can be read and counted.
# fmt: off
DEFECTS: Final[tuple[tuple[str, str, str, Edits], ...]] = (
    # What CloudFormation or the service refuses, for any user.
    ("UC5001 UC5005", _FSX, "a Lustre deployment type that does not exist", {f"{_LUSTRE}/DeploymentType": "PERSISTENT_3"}),
    ("UC5201", _FSX, "a deletion policy that does not exist", {"Bucket/@DeletionPolicy": "Keep"}),
    ("UC5026", _FSX, "an event of an association that does not exist", {"DataRepositoryAssociation/S3/AutoImportPolicy/Events/0": "CREATED"}),
    ("UC6104", _BATCH, "eleven attempts of a job", {"JobDefinition/RetryStrategy/Attempts": 11}),
    ("UC6104", _BATCH, "a job that times out after 30 seconds", {"JobDefinition/Timeout/AttemptDurationSeconds": 30}),
    # What is accepted, and leaves nodes without capacity or without a fabric.
    ("UC4012", _BATCH, "a device index beyond the card of trn1", {f"{_LT}/NetworkInterfaces/5/DeviceIndex": 5}),
    ("UC4011 UC4016", _BLOCK, "a network card that the type has not", {f"{_LT}/NetworkInterfaces/15/NetworkCardIndex": 16}),
    ("UC4010", _BATCH, "a primary interface without an address", {f"{_LT}/NetworkInterfaces/0/InterfaceType": "efa-only"}),
    ("UC4016", _BLOCK, "half of the EFA interfaces", {f"{_LT}/NetworkInterfaces/8": DROP, f"{_LT}/NetworkInterfaces/9": DROP}),
    ("UC4011 UC4015 UC6402 UC6407", _BATCH, "EFA on a type without EFA", {"/Parameters/NodeType/Default": "trn1.2xlarge", f"{_CE}/MaxvCpus": 32}),
    ("UC4014 UC4016", _BATCH, "two EFA interfaces on a card", {f"{_LT}/NetworkInterfaces/2/NetworkCardIndex": 1, f"{_LT}/NetworkInterfaces/2/DeviceIndex": 2}),
    ("UC4109", _BLOCK, "an offering where a reservation belongs", {"/Parameters/ReservationId/Default": "cb-0a1b2c3d4e5f60718"}),
    ("UC4016 UC4104 UC6403", _BATCH, "a block of a type that is not sold in blocks", {"/Parameters/NodeType/Default": "trn1n.32xlarge", f"{_LT}/InstanceMarketOptions": {"MarketType": "capacity-block"}, f"{_LT}/CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}}, f"{_CE}/PlacementGroup": DROP}),
    ("UC4212 UC6101", _BATCH, "fewer vCPUs than a node has", {f"{_CE}/MaxvCpus": 96}),
    ("UC4211 UC4214", _BATCH, "more vCPUs at least than at most", {f"{_CE}/MinvCpus": 1024}),
    ("UC4016 UC4217", _BATCH, "BEST_FIT over several types", {f"{_CE}/AllocationStrategy": "BEST_FIT", f"{_CE}/InstanceTypes": ["trn1.32xlarge", "trn1n.32xlarge"], f"{_LT}/InstanceType": DROP}),
    ("UC3202", _BATCH, "a subnet that gives nodes public addresses", {"Subnet:Private/MapPublicIpOnLaunch": True}),
    ("UC3203", _BLOCK, "interfaces that outlive their node", {f"{_LT}/NetworkInterfaces/7/DeleteOnTermination": DROP}),
    ("UC4209", _BATCH, "user data of 20 KiB", {f"{_LT}/UserData": {"Fn::Base64": 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="=="\n\n--==\n' + "#" * 20_480 + "\n--==--\n"}}),
    ("UC6107", _BATCH, "an image that moves", {"/Parameters/ImageTag/Default": "latest"}),
    ("UC6407", _BATCH, "more vCPUs than a node has", {f"{_JOB}/ResourceRequirements/0/Value": "192"}),
    ("UC6407", _BATCH, "all the memory of a node", {f"{_JOB}/ResourceRequirements/1/Value": "524288"}),
    ("UC6407", _BATCH, "GPUs of Trainium", {f"{_JOB}/ResourceRequirements/+": {"Type": "GPU", "Value": "16"}}),
    ("UC6010", _BATCH, "two addresses of the compile cache", {f"{_JOB}/Environment/2/Value": "--model-type=transformer --cache_dir=/tmp/cache"}),
    ("UC4206", _BATCH, "an image that each deployment resolves anew", {"/Parameters/AmiId/Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>", "/Parameters/AmiId/Default": "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"}),
    ("UC4206", _BLOCK, "an image that each launch resolves anew", {f"{_LT}/ImageId": "resolve:ssm:/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"}),
    ("UC5003", _FSX, "a size between the steps", {"/Parameters/CapacityGiB/Default": 3000}),
    ("UC3201 UC5003", _FSX, "a size between the steps of EFA", {f"{_LUSTRE}/EfaEnabled": True, "/Parameters/CapacityGiB/Default": 12000}),
    ("UC5002", _FSX, "scratch with a throughput", {f"{_LUSTRE}/DeploymentType": "SCRATCH_2", f"{_LUSTRE}/MetadataConfiguration": DROP}),
    ("UC5006", _FSX, "metadata IOPS that are not sold", {f"{_LUSTRE}/MetadataConfiguration/Iops": 5000}),
    ("UC5023", _FSX, "a folder of an association inside another", {"DataRepositoryAssociation:Results/FileSystemPath": "/data/results"}),
    ("UC5022", _FSX, "a folder that does not begin at the root", {"DataRepositoryAssociation:Results/FileSystemPath": "results"}),
    # What lets strangers in, or lets our own do more than they need.
    ("UC4207", _BATCH, "no options for instance metadata", {f"{_LT}/MetadataOptions": DROP}),
    ("UC5204", _BLOCK, "a disk that is not encrypted", {f"{_LT}/BlockDeviceMappings/0/Ebs/Encrypted": False}),
    # What loses data or running jobs later.
    ("UC5201", _FSX, "a bucket that is to be deleted", {"Bucket/@DeletionPolicy": "Delete"}),
    ("UC5201", _FSX, "a file system that goes with its stack", {"FileSystem/@DeletionPolicy": DROP}),
    ("UC5208", _FSX, "deletions that reach S3", {"DataRepositoryAssociation/S3/AutoExportPolicy/Events/+": "DELETED"}),
    ("UC4219", _BATCH, "an environment that every update replaces", {"ComputeEnvironment/ReplaceComputeEnvironment": DROP}),
    ("UC4218", _BATCH, "an environment whose name blocks its replacement", {"ComputeEnvironment/ComputeEnvironmentName": "training"}),
    ("UC5014", _FSX, "checkpoints on scratch", {f"{_LUSTRE}/DeploymentType": "SCRATCH_2", f"{_LUSTRE}/PerUnitStorageThroughput": DROP, f"{_LUSTRE}/MetadataConfiguration": DROP, f"{_LUSTRE}/AutomaticBackupRetentionDays": 7}),
)
# fmt: on
"""The codes that a mistake breaks, the good template, what is wrong, and the edits."""
