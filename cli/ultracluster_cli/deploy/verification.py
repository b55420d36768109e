"""Read deployed clusters back from AWS as plain values, independently of the rollout file (`ultracluster docs command-line`)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import botocore.exceptions

from ultracluster_catalog.limits.queues import QUEUE_NAME_TAG
from ultracluster_catalog.lustre.lustre_figures import file_system_figures
from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_cli._aws.deployed_template import stack_resources
from ultracluster_cli.exit_codes import CommandError
from ultracluster_runtime.functions.clients import Clients
from ultracluster_runtime.jobs.dependencies import job_name
from ultracluster_runtime.lifecycle.reader import array_nodes
from ultracluster_spec.instance_type import get_instance_type
from ultracluster_stacks.cost import lustre_settings
from ultracluster_stacks.plan import StackTemplate

_EFA = {"efa", "efa-only"}


def read_clusters(
    stacks: Sequence[StackTemplate], *, client: Clients, own_types: Mapping[str, InstanceType] | None = None
) -> list[dict[str, Any]]:
    """Read back every cluster from AWS; an error of AWS or a missing resource is a CommandError."""
    names = dict.fromkeys(stack.cluster for stack in stacks)
    try:
        return [
            _Reader([stack for stack in stacks if stack.cluster == name], client, own_types or {}).cluster()
            for name in names
        ]
    except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
        raise _cannot_read_back(str(error)) from error


def _cannot_read_back(problem: str) -> CommandError:
    return CommandError.message(
        f"the stacks are deployed, but reading them back failed: {problem}",
        remedy="Check the stacks in the CloudFormation console; deploying again is safe",
    )


class _Reader:
    """Read one cluster, whose stacks are in one Region."""

    def __init__(
        self, stacks: Sequence[StackTemplate], client: Clients, own_types: Mapping[str, InstanceType]
    ) -> None:
        self._stacks = stacks
        self._region = stacks[0].region
        self._client = client.in_region(self._region)
        self._own_types = own_types
        self._resources = {
            stack.name: list(stack_resources(stack.name, self._client("cloudformation"))) for stack in stacks
        }

    def cluster(self) -> dict[str, Any]:
        queue = self._queue()
        environment = self._first_environment(queue)
        group = self._group() if environment.get("type") == "UNMANAGED" else None
        resources = {} if group else environment["computeResources"]
        template = self._launch_template(group["LaunchTemplate"] if group else resources["launchTemplate"])
        type_name = template["InstanceType"] if group else resources["instanceTypes"][0]
        instance_type = self._own_types.get(type_name) or get_instance_type(type_name)
        nodes = group["MaxSize"] if group else resources["maxvCpus"] // instance_type.vcpus
        interfaces = [
            interface
            for interface in template.get("NetworkInterfaces", [])
            if interface.get("InterfaceType") in _EFA
        ]
        return {
            "name": self._stacks[0].cluster,
            "region": self._region,
            "instance_type": type_name,
            "nodes": nodes,
            "chips": nodes * instance_type.chips,
            "neuron_cores": nodes * instance_type.neuron_cores,
            "logical_neuron_cores": nodes * instance_type.logical_neuron_cores,
            "efa_interfaces_per_node": len(interfaces),
            "efa_gbps_per_node": _gbps(interfaces, instance_type),
            "placement_group": template.get("Placement", {}).get("GroupName"),
            "reservation": self._reservation(template),
            "file_systems": list(self._file_systems(instance_type, nodes)),
            "buckets": self._buckets(),
            "queue": f"{queue['jobQueueName']} ({queue['state']})",
            "job_definitions": list(self._job_definitions()),
            "stacks": list(self._read_stacks()),
        }

    def _ids(self, resource_type: str) -> list[str]:
        return [
            resource["PhysicalResourceId"]
            for resources in self._resources.values()
            for resource in resources
            if resource["ResourceType"] == resource_type
        ]

    def _only(self, resources: Sequence[Any], what: str) -> Any:
        if len(resources) != 1:
            raise _cannot_read_back(
                f"{self._stacks[0].cluster} has {len(resources)} resources of kind {what}, expected 1"
            )
        return resources[0]

    def _read_stacks(self) -> Iterator[dict[str, Any]]:
        for name, resources in self._resources.items():
            (described,) = self._client("cloudformation").describe_stacks(StackName=name)["Stacks"]
            yield {"name": name, "status": described["StackStatus"], "resources": len(resources)}

    def _first_environment(self, queue: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the first compute environment of the queue, which has the preferred capacity."""
        order = sorted(queue["computeEnvironmentOrder"], key=lambda entry: entry["order"])
        ids = [entry["computeEnvironment"] for entry in order[:1]]
        answer = (
            self._client("batch").describe_compute_environments(computeEnvironments=ids)
            if ids
            else {"computeEnvironments": []}
        )
        environment: Mapping[str, Any] = self._only(answer["computeEnvironments"], "compute environment")
        return environment

    def _group(self) -> Mapping[str, Any]:
        """Return the Auto Scaling group that starts the nodes of an unmanaged compute environment."""
        names = self._ids("AWS::AutoScaling::AutoScalingGroup")[:1]
        answer = self._client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=names)
        group: Mapping[str, Any] = self._only(answer["AutoScalingGroups"], "Auto Scaling group")
        return group

    def _launch_template(self, reference: Mapping[str, str]) -> Mapping[str, Any]:
        # AWS Batch and Auto Scaling write its members with another first letter.
        named = {key[0].lower() + key[1:]: value for key, value in reference.items()}
        parameters = {"launchTemplateId": "LaunchTemplateId", "launchTemplateName": "LaunchTemplateName"}
        key = next(key for key in parameters if key in named)
        answer = self._client("ec2").describe_launch_template_versions(
            **{parameters[key]: named[key]}, Versions=[named.get("version", "$Default")]
        )
        data: Mapping[str, Any] = self._only(answer["LaunchTemplateVersions"], "launch template version")[
            "LaunchTemplateData"
        ]
        return data

    def _reservation(self, template: Mapping[str, Any]) -> dict[str, Any] | None:
        specification = template.get("CapacityReservationSpecification", {})
        target = specification.get("CapacityReservationTarget", {}).get("CapacityReservationId")
        if not target:
            return None
        answer = self._client("ec2").describe_capacity_reservations(CapacityReservationIds=[target])
        reservation = self._only(answer["CapacityReservations"], f"reservation {target}")
        return {
            "id": target,
            "state": reservation["State"],
            "market_type": template.get("InstanceMarketOptions", {}).get("MarketType"),
            "instances": reservation["TotalInstanceCount"],
            "ends": reservation.get("EndDate"),
        }

    def _file_systems(self, instance_type: InstanceType, nodes: int) -> Iterator[dict[str, Any]]:
        ids = self._ids("AWS::FSx::FileSystem")
        if not ids:
            return
        for description in self._client("fsx").describe_file_systems(FileSystemIds=ids)["FileSystems"]:
            settings = lustre_settings(description)
            figures = file_system_figures(
                settings, instance_type=instance_type, nodes=nodes, region=self._region
            )
            amount = figures.usd_per_month
            yield {
                "id": description["FileSystemId"],
                "state": description["Lifecycle"],
                "storage_gib": settings.storage_capacity_gib,
                "throughput_mb_per_s": figures.baseline_mb_per_s,
                "object_servers": figures.object_servers,
                "node_gbps": figures.node_gbps,
                "node_mb_per_s": figures.node_mb_per_s,
                "usd_per_month": None if amount is None else float(round(amount, 2)),
            }

    def _buckets(self) -> list[str]:
        names = self._ids("AWS::S3::Bucket")
        pages = self._client("s3").get_paginator("list_buckets").paginate()
        listed = {bucket["Name"] for page in pages for bucket in page["Buckets"]}
        if missing := sorted(set(names) - listed):
            raise _cannot_read_back(f"S3 does not list {', '.join(missing)}")
        return names

    def _queue(self) -> Mapping[str, Any]:
        """Return the main queue of the cluster; further queues have a name tag."""
        ids = self._ids("AWS::Batch::JobQueue")
        answer = self._client("batch").describe_job_queues(jobQueues=ids) if ids else {"jobQueues": []}
        own_queues = [queue for queue in answer["jobQueues"] if QUEUE_NAME_TAG not in queue.get("tags", {})]
        queue: Mapping[str, Any] = self._only(own_queues, "job queue")
        return queue

    def _job_definitions(self) -> Iterator[dict[str, Any]]:
        ids = self._ids("AWS::Batch::JobDefinition")
        if not ids:
            return
        for definition in self._client("batch").describe_job_definitions(jobDefinitions=ids)[
            "jobDefinitions"
        ]:
            nodes = definition.get("nodeProperties", {})
            ranges = nodes.get("nodeRangeProperties", [{}])
            container = ranges[0].get("container") or definition.get("containerProperties", {})
            devices = [
                device["hostPath"] for device in container.get("linuxParameters", {}).get("devices", [])
            ]
            yield {
                "name": f"{definition['jobDefinitionName']}:{definition['revision']}",
                "job": job_name(definition),
                "nodes": nodes.get("numNodes") or array_nodes({"container": container}) or 1,
                "neuron_devices": sum(device.startswith("/dev/neuron") for device in devices),
                "efa_devices": sum(device.startswith("/dev/infiniband/uverbs") for device in devices),
            }


def _gbps(interfaces: Iterable[Mapping[str, Any]], instance_type: InstanceType) -> float:
    cards = {interface.get("NetworkCardIndex", 0) for interface in interfaces}
    return sum(card.gbps for card in instance_type.network_cards if card.index in cards)
