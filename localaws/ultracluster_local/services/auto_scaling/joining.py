"""Actions of the ECS agent on a launched instance: it registers with the cluster that its user data names.

Nothing runs on an instance here. Its user data is read for the line that the AWS Batch User Guide shows for unmanaged
environments (unmanaged_compute_environments.html): ``echo "ECS_CLUSTER=..." >> /etc/ecs/ecs.config``.
"""

import re
from collections.abc import Mapping
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.ecs.models import ecs_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.ec2.user_data import decoded

__all__ = ["join_cluster", "leave_clusters"]

_CLUSTER = re.compile(r"ECS_CLUSTER=['\"]?([A-Za-z0-9:/_-]+)")


def join_cluster(region: str, instance_id: str, template: Mapping[str, Any]) -> None:
    """Register an instance with the ECS cluster of its user data, if that exists.

    Args:
        region: Region.
        instance_id: Instance.
        template: Launch template data.
    """
    named = _CLUSTER.search(decoded(template["UserData"])) if template.get("UserData") else None
    if named is None:
        return
    cluster = named[1].rsplit("/", 1)[-1]
    backend = ecs_backends[ACCOUNT][region]
    if cluster not in backend.clusters:
        return
    registered = backend.register_container_instance(cluster, instance_id)
    facts = INSTANCE_TYPES.get(str(template.get("InstanceType")), {})
    if facts:
        # The agent registers what the kernel shows, which is some percent less memory.
        sizes = {"CPU": facts["VCpuInfo"]["DefaultVCpus"] * 1024, "MEMORY": facts["MemoryInfo"]["SizeInMiB"]}
        for resource in (*registered.registered_resources, *registered.remaining_resources):
            if resource["name"] in sizes:
                resource["integerValue"] = sizes[resource["name"]]


def leave_clusters(region: str, instance_id: str) -> None:
    """Deregister a terminated instance, as ECS does.

    Args:
        region: Region.
        instance_id: Instance.
    """
    backend = ecs_backends[ACCOUNT][region]
    for cluster, instances in list(backend.container_instances.items()):
        for arn, one in list(instances.items()):
            if one.ec2_instance_id == instance_id:
                backend.deregister_container_instance(cluster, arn, force=True)
                backend.clusters[cluster].registered_container_instances_count -= 1  # moto does not
