"""Nodes that AWS Batch launches for jobs: instances of EC2 and of ECS whose files are a folder of this machine.

Their user data is not run, since it configures a whole machine. What it would leave on a node is seeded with the image
(`SeedImage`): files, and the path at which it mounts the file system that it names.
"""

import logging
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError
from moto.ec2.models import ec2_backends
from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.ecs.models import ecs_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.running import running
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.batch.compute_resources import launch_template_data
from ultracluster_local.services.batch.containers import containers_of_task, quantity
from ultracluster_local.services.ec2.launch_templates import template_data
from ultracluster_local.services.ec2.user_data import decoded
from ultracluster_local.services.handlers import Request
from ultracluster_local.services.node_images import NodeImage, node_images

__all__ = ["Node", "adopt", "fits", "is_alive", "is_draining", "launch", "nodes_in", "rewrite", "terminate"]

_LOG = logging.getLogger(__name__)
_TEMPLATE, _TEMPLATE_VERSION = "aws:ec2launchtemplate:id", "aws:ec2launchtemplate:version"
_BLOCKS = "ECS_AWSVPC_BLOCK_IMDS=true"
_FILE_SYSTEM = re.compile(r"fs-[0-9a-f]{8,40}")


@dataclass(kw_only=True, slots=True)
class Node:
    """A node of a compute environment.

    Attributes:
        instance_id: EC2 instance ID.
        region: Region.
        environment: ARN of its compute environment.
        container_instance: ARN of its ECS container instance.
        vcpus: vCPUs of the instance type.
        folder: Folder that stands for its root directory.
        shared: Path of the file system and the folder that stands for it; None without one.
        profile: ARN or name of its instance profile; empty without one.
        blocks_metadata: Whether its agent is set to ``ECS_AWSVPC_BLOCK_IMDS``.
        busy: vCPUs that containers have.
    """

    instance_id: str
    region: str
    environment: str
    container_instance: str
    vcpus: int
    folder: Path
    shared: tuple[str, Path] | None
    profile: str = ""
    blocks_metadata: bool = False
    busy: int = 0

    def host_folder(self, path: str) -> Path:
        """Return the folder of this machine that stands for a path on the node, and create it."""
        root, inside = self.folder, path
        if self.shared and (path == self.shared[0] or path.startswith(f"{self.shared[0]}/")):
            root, inside = self.shared[1], path[len(self.shared[0]) :]
        folder = (root / inside.strip("/")).resolve()
        if not folder.is_relative_to(root.resolve()):
            raise ValueError(f"{path} leaves the folder of the node")
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def rewrite(text: str, folders: Mapping[str, Path]) -> str:
    """Replace paths in a text by the folders that stand for them."""
    for path in sorted(folders, key=len, reverse=True):
        folder = str(folders[path]).replace("\\", r"\\")
        text = re.sub(rf"(?<![\w./-]){re.escape(path)}(?![\w.-])", folder, text)
    return text


def nodes_in(region: str) -> dict[str, Node]:
    """Return the nodes of a Region by instance ID."""
    return region_state("jobs:nodes", region=region, new=dict[str, Node])


def launch(region: str, environment: Mapping[str, Any], count: int, *, most_vcpus: int) -> list[Node]:
    """Launch nodes of a managed compute environment.

    Args:
        region: Region.
        environment: Compute environment.
        count: Number of nodes, all or none.
        most_vcpus: vCPUs that the environment may still launch.

    Returns:
        The nodes; empty if the environment is too small, or EC2 refuses, as it does before a Capacity Block starts.
    """
    resources = environment["computeResources"]
    kind = _instance_type(resources)
    if count * _vcpus(kind) > most_vcpus:
        return []
    template = {
        name: resources.get("launchTemplate", {}).get(key)
        for name, key in (
            ("LaunchTemplateId", "launchTemplateId"),
            ("LaunchTemplateName", "launchTemplateName"),
            ("Version", "version"),
        )
    }
    settings: dict[str, Any] = {"LaunchTemplate": {name: value for name, value in template.items() if value}}
    data: Mapping[str, Any] = {}
    if settings["LaunchTemplate"]:
        request = Request(operation="", parameters={}, region=region)
        data = launch_template_data(request, resources["launchTemplate"])
    else:
        settings = {}
    image = next(
        (
            one["imageIdOverride"]
            for one in resources.get("ec2Configuration") or []
            if "imageIdOverride" in one
        ),
        None,
    ) or resources.get("imageId")
    if image:
        settings["ImageId"] = image
    interfaces = data.get("NetworkInterfaces")
    if interfaces:
        settings["NetworkInterfaces"] = [{**one, "SubnetId": resources["subnets"][0]} for one in interfaces]
    else:
        settings["SubnetId"] = resources["subnets"][0]
        settings["SecurityGroupIds"] = resources.get("securityGroupIds") or []
    # Tags of both reach the instances; on the same key the environment wins:
    # https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html (2026-11-23)
    tags = {
        tag["Key"]: tag["Value"]
        for specification in data.get("TagSpecifications") or []
        if specification["ResourceType"] == "instance"
        for tag in specification["Tags"]
    } | (resources.get("tags") or {})
    try:
        answer = (
            running()
            .clients.get("ec2", region)
            .run_instances(
                **settings,
                InstanceType=kind,
                MinCount=count,
                MaxCount=count,
                TagSpecifications=[
                    {
                        "ResourceType": "instance",
                        "Tags": [
                            {"Key": key, "Value": value}
                            for key, value in (tags | {"AWSBatchServiceTag": "batch"}).items()
                        ],
                    }
                ],
            )
        )
    except ClientError as error:
        told = region_state("jobs:problems", region=region, new=dict[str, str])
        name = environment["computeEnvironmentName"]
        if told.get(name) != str(error):
            told[name] = str(error)
            _LOG.info("%s launches no nodes: %s", name, error)
        return []
    profile = resources.get("instanceRole", "")
    return [
        _node(region, environment, one, data, profile=profile, member=_register(region, environment, one))
        for one in answer["Instances"]
    ]


def fits(environment: Mapping[str, Any], job: Mapping[str, Any]) -> bool:
    """Return whether an empty node of a managed environment has what each node of a job requires; a job that does not fit waits."""
    resources = environment.get("computeResources") or {}
    if not resources.get("instanceTypes"):
        return True  # its group chooses the type
    ranges = job.get("nodeProperties", {}).get("nodeRangeProperties", [])
    wanted = [one.get("container") or {} for one in ranges]
    name = _instance_type(resources)
    if any(one.get("instanceType", name) != name for one in wanted):
        return False
    kind = INSTANCE_TYPES[name]
    devices = sum(gpu["Count"] for gpu in kind.get("GpuInfo", {}).get("Gpus", []))
    limits = {
        "VCPU": kind["VCpuInfo"]["DefaultVCpus"],
        "MEMORY": kind["MemoryInfo"]["SizeInMiB"],
        "GPU": devices,
    }
    # The containers of a job on one node share it.
    sets = [[one] for one in wanted] or [containers_of_task(job)]
    return all(
        sum(float(quantity(container, resource) or 0) for container in containers) <= limit
        for containers in sets
        for resource, limit in limits.items()
    )


def adopt(region: str, environment: Mapping[str, Any]) -> None:
    """Make nodes of the instances that have joined the cluster of an unmanaged compute environment by themselves."""
    cluster = environment["ecsClusterArn"].rpartition("/")[2]
    for member in list(ecs_backends[ACCOUNT][region].container_instances.get(cluster, {}).values()):
        if member.ec2_instance_id in nodes_in(region):
            continue
        ec2 = running().clients.get("ec2", region)
        found = ec2.describe_instances(InstanceIds=[member.ec2_instance_id])["Reservations"][0]["Instances"][
            0
        ]
        tags = {one["Key"]: one["Value"] for one in found.get("Tags", [])}
        version = {"LaunchTemplateId": tags.get(_TEMPLATE), "Version": tags.get(_TEMPLATE_VERSION)}
        data = template_data(region, version) if _TEMPLATE in tags else {}
        profile = data.get("IamInstanceProfile") or {}
        named = profile.get("Arn") or profile.get("Name") or ""
        _node(region, environment, found, data, profile=named, member=member.container_instance_arn)


def _register(region: str, environment: Mapping[str, Any], instance: Mapping[str, Any]) -> str:
    backend = ecs_backends[ACCOUNT][region]
    member = backend.register_container_instance(environment["ecsClusterArn"], instance["InstanceId"])
    return str(member.container_instance_arn)


def _instance_type(resources: Mapping[str, Any]) -> str:
    wanted = str(resources["instanceTypes"][0])
    if wanted in INSTANCE_TYPES:
        return wanted
    family = "m5" if wanted == "optimal" else wanted
    return next((name for name in sorted(INSTANCE_TYPES) if name.partition(".")[0] == family), wanted)


def _vcpus(instance_type: str) -> int:
    return int(INSTANCE_TYPES[instance_type]["VCpuInfo"]["DefaultVCpus"])


def _node(
    region: str,
    environment: Mapping[str, Any],
    instance: Mapping[str, Any],
    data: Mapping[str, Any],
    *,
    profile: str,
    member: str,
) -> Node:
    instance_id = instance["InstanceId"]
    folder = running().directory / "jobs" / "nodes" / instance_id
    folder.mkdir(parents=True, exist_ok=True)
    image = node_images(region).get(instance["ImageId"], NodeImage())
    user_data = decoded(data.get("UserData") or "")
    node = Node(
        instance_id=instance_id,
        region=region,
        environment=environment["computeEnvironmentArn"],
        container_instance=member,
        vcpus=_vcpus(instance["InstanceType"]),
        folder=folder,
        shared=None,
        profile=profile,
        blocks_metadata=_BLOCKS in user_data or _BLOCKS in image.files.get("/etc/ecs/ecs.config", ""),
    )
    if image.shared:
        found = _FILE_SYSTEM.search(user_data)
        shared = running().directory / "jobs" / "file-systems" / (found[0] if found else "none")
        shared.mkdir(parents=True, exist_ok=True)
        node.shared = (image.shared, shared)
    for path, text in image.files.items():
        place = node.host_folder(path.rpartition("/")[0])
        (place / path.rpartition("/")[2]).write_text(
            rewrite(text, {path.rpartition("/")[0]: place}), encoding="utf-8"
        )
    nodes_in(region)[instance_id] = node
    return node


def is_alive(node: Node) -> bool:
    """Return whether the instance of a node still runs."""
    found = ec2_backends[ACCOUNT][node.region].get_instance_by_id(node.instance_id)
    return found is not None and found.state in {"pending", "running"}


def is_draining(node: Node) -> bool:
    """Return whether ECS places no task on a node any more.

    https://docs.aws.amazon.com/AmazonECS/latest/developerguide/container-instance-draining.html (2026-11-27)
    """
    *_, cluster, name = node.container_instance.split("/")
    host = ecs_backends[ACCOUNT][node.region].container_instances.get(cluster, {}).get(name)
    return host is not None and host.status == "DRAINING"


def terminate(nodes: Sequence[Node]) -> None:
    """Terminate nodes, and delete what was theirs."""
    for node in nodes:
        nodes_in(node.region).pop(node.instance_id, None)
        *_, cluster, name = node.container_instance.split("/")
        members = ecs_backends[ACCOUNT][node.region].container_instances.get(cluster, {})
        members.pop(name, None)
        if is_alive(node):
            running().clients.get("ec2", node.region).terminate_instances(InstanceIds=[node.instance_id])
        shutil.rmtree(node.folder, ignore_errors=True)
