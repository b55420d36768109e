"""AWS Batch compute environments; no instance ever starts.

moto requires a service role and starts instances for minvCpus.
"""

import email
import uuid
from collections.abc import Mapping
from typing import Any

from moto.ecs.models import ecs_backends

from ultracluster_local.services.batch.compute_resources import check_compute_resources, launch_template_data
from ultracluster_local.services.batch.state import (
    batch_of,
    begin_change,
    client_error,
    described,
    find,
    get,
    refuse_changing,
    refused,
    settings_of,
)
from ultracluster_local.services.ec2.user_data import decoded
from ultracluster_local.services.handlers import Handlers, Request
from ultracluster_local.services.iam.roles import can_assume

__all__ = ["handlers"]

handlers = Handlers(service="batch")

_SERVICE = "batch.amazonaws.com"
_MOST_ENVIRONMENTS = (
    50  # AWS Batch quotas: https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html
)
_OF_FARGATE = frozenset({"maxvCpus", "securityGroupIds", "subnets", "type"})
_OF_EC2 = (
    "allocationStrategy, bidPercentage, ec2Configuration, ec2KeyPair, imageId, instanceRole, instanceTypes, launchTemplate, "
    "placementGroup, tags, type, updatePolicy, updateToLatestImageVersion"
)
_OF_UNMANAGED = (
    "unmanagedvCpus is not applicable for managed Compute Environments"  # badmintoncryer/cdk-preflight
)
_SCALING = frozenset({"minvCpus", "maxvCpus", "desiredvCpus", "scalingPolicy"})
"""Settings whose change needs no new instances: https://docs.aws.amazon.com/batch/latest/userguide/updating-compute-environments.html."""


@handlers("CreateComputeEnvironment")
def create_compute_environment(request: Request) -> Mapping[str, Any]:
    """Create an environment; what AWS finds only afterwards makes it INVALID."""
    given = settings_of(request)
    name = given["computeEnvironmentName"]
    batch = batch_of(request.region)
    if find(batch.environments, "computeEnvironmentName", name):
        raise client_error("Object already exists")
    if len(batch.environments) >= _MOST_ENVIRONMENTS:
        raise client_error(f"Compute environment limit of {_MOST_ENVIRONMENTS} exceeded")
    _check_kind(request, given)
    arn = request.arn("batch", f"compute-environment/{name}")
    own_id = str(uuid.uuid4())
    environment = {
        "state": "ENABLED",
        "tags": {},
        "serviceRole": _linked_role(request),
        "containerOrchestrationType": "ECS",
        "uuid": own_id,
        "ecsClusterArn": _create_cluster(request, f"AWSBatch-{name}-{own_id}"),
        **given,
        "computeEnvironmentArn": arn,
    }
    resources = environment.get("computeResources")
    if resources:
        resources.pop("updateToLatestImageVersion", None)
        if not resources["type"].startswith("FARGATE"):
            resources.setdefault("desiredvCpus", resources.setdefault("minvCpus", 0))
    batch.environments[arn] = environment
    begin_change(batch, arn, "CREATING", _verdict(request, environment))
    return {"computeEnvironmentName": name, "computeEnvironmentArn": arn}


def _create_cluster(request: Request, name: str) -> str:
    return str(ecs_backends[request.account][request.region].create_cluster(name).arn)


def _linked_role(request: Request) -> str:
    return f"arn:aws:iam::{request.account}:role/aws-service-role/{_SERVICE}/AWSServiceRoleForBatch"


def _check_kind(request: Request, given: Mapping[str, Any]) -> None:
    """Check the settings that depend on who manages the instances: API_CreateComputeEnvironment."""
    if given["type"] == "UNMANAGED" and given.get("serviceRole") == _linked_role(request):
        raise refused("Service Linked Role cannot be used with UNMANAGED Compute Environment")
    if given.get("eksConfiguration"):
        raise refused("The local AWS does not simulate Amazon EKS: eksConfiguration")
    if given["type"] == "MANAGED":
        if not given.get("computeResources"):
            raise refused("computeResources must be provided for a MANAGED compute environment")
        check_compute_resources(request, given["computeResources"])


def _verdict(request: Request, environment: Mapping[str, Any]) -> dict[str, str]:
    """Return status and reason of an environment after a change."""
    role = environment["serviceRole"]
    if role != _linked_role(request) and not can_assume(_SERVICE, role):
        # AWS's error message, from hashicorp/terraform-provider-aws#21281.
        reason = f"CLIENT_ERROR - {_SERVICE} is not authorized to perform: sts:AssumeRole on resource: {role}"
        return {"status": "INVALID", "statusReason": reason}
    template = (environment.get("computeResources") or {}).get("launchTemplate")
    if template:
        user_data = launch_template_data(request, template).get("UserData")
        if user_data and not email.message_from_string(decoded(user_data)).is_multipart():
            # AWS's error message, from aws/aws-cdk#6427.
            reason = "CLIENT_ERROR - Launch Template UserData is not MIME multipart format"
            return {"status": "INVALID", "statusReason": reason}
    return {"status": "VALID", "statusReason": "ComputeEnvironment Healthy"}


@handlers("DescribeComputeEnvironments")
def describe_compute_environments(request: Request) -> Mapping[str, Any]:
    """Describe all compute environments, or the named ones."""
    return described(
        request, batch_of(request.region).environments, "computeEnvironment", "computeEnvironments"
    )


@handlers("UpdateComputeEnvironment")
def update_compute_environment(request: Request) -> Mapping[str, Any]:
    """Update the given settings."""
    given = settings_of(request)
    batch = batch_of(request.region)
    wanted = given.pop("computeEnvironment")
    # aws/aws-parallelcluster#1040: the refusal names the ARN
    arn = wanted if wanted.startswith("arn:") else request.arn("batch", f"compute-environment/{wanted}")
    environment = get(batch.environments, "computeEnvironmentName", wanted, arn)
    arn = environment["computeEnvironmentArn"]
    refuse_changing(batch, arn, "update")
    if not given.keys() & {"state", "computeResources", "serviceRole", "unmanagedvCpus", "updatePolicy"}:
        # hashicorp/terraform-provider-aws#43969; only in GovCloud an update policy alone is nothing
        raise client_error("One of [state | compute-resources | service-role | unmanaged-vcpus] is required.")
    changed = {**environment, **given}
    if given.get("computeResources"):
        resources = given["computeResources"]
        to_latest = resources.pop("updateToLatestImageVersion", False)
        changed["computeResources"] = _with_desired(environment.get("computeResources", {}), resources)
        _check_resources(request, environment, changed, to_latest=to_latest)
    elif given.get("unmanagedvCpus") is not None and environment["type"] == "MANAGED":
        raise refused(_OF_UNMANAGED)
    _check_role(request, environment, changed)
    environment |= changed
    begin_change(batch, arn, "UPDATING", _verdict(request, environment))
    return {key: environment[key] for key in ("computeEnvironmentName", "computeEnvironmentArn")}


def _with_desired(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return changed resources; the vCPUs that an environment wants stay, as far as their new bounds allow."""
    after = {**before, **given}
    wanted = before.get("desiredvCpus")
    if wanted is not None and "desiredvCpus" not in given:
        after["desiredvCpus"] = min(max(wanted, after["minvCpus"]), after["maxvCpus"])
    elif wanted is not None and given["desiredvCpus"] < wanted:
        # AWS's error message, from the troubleshooting page of the AWS Batch User Guide.
        raise refused(
            "Manually scaling down compute environment is not supported. Disconnecting job queues from compute "
            "environment will cause it to scale-down to minvCpus."
        )
    return after


def _check_resources(
    request: Request, old: Mapping[str, Any], new: Mapping[str, Any], *, to_latest: bool
) -> None:
    """Check changed compute resources: API_ComputeResourceUpdate."""
    if old["type"] == "UNMANAGED":
        raise refused("computeResources can't be updated for an UNMANAGED compute environment")
    before, after = old["computeResources"], new["computeResources"]
    infrastructure = sorted(key for key in after if key not in _SCALING and after[key] != before.get(key))
    if to_latest:
        infrastructure.append("updateToLatestImageVersion")
    if infrastructure and before["type"].startswith("FARGATE") and not {*infrastructure} <= _OF_FARGATE:
        raise refused(
            f"The following parameters can't be updated for Fargate compute environment: {_OF_EC2}."
        )  # aws/aws-cdk#27054
    if infrastructure and not before["type"].startswith("FARGATE"):
        # AWS's error message, from https://repost.aws/knowledge-center/batch-update-ec2-environment.
        if before.get("allocationStrategy", "BEST_FIT") == "BEST_FIT":
            raise refused(
                f"{', '.join(infrastructure)} can be updated for CE only with Allocation Strategy BEST_FIT_PROGRESSIVE "
                "and SPOT_CAPACITY_OPTIMIZED"
            )
        if old["serviceRole"] != _linked_role(request):
            raise refused(
                f"{', '.join(infrastructure)} can be updated for CE only with Batch Service Linked Role"
            )
        if after.get("allocationStrategy", "BEST_FIT") == "BEST_FIT":
            raise refused("BEST_FIT isn't supported when updating a compute environment")
    check_compute_resources(request, after)


def _check_role(request: Request, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    linked = _linked_role(request)
    if (old["serviceRole"] == linked) != (
        new["serviceRole"] == linked
    ):  # API_UpdateComputeEnvironment, serviceRole
        raise refused("A service-linked role can't be changed to a regular IAM role, or the reverse")


@handlers("DeleteComputeEnvironment")
def delete_compute_environment(request: Request) -> Mapping[str, Any]:
    """Delete a disabled environment that no queue uses."""
    batch = batch_of(request.region)
    environment = find(batch.environments, "computeEnvironmentName", request.parameters["computeEnvironment"])
    if environment is None:
        return {}  # AWS reports no error for a missing resource: floci-io/floci#2857
    arn = environment["computeEnvironmentArn"]
    if environment["state"] != "DISABLED":  # API_DeleteComputeEnvironment, which has this text
        raise client_error(
            "Cannot delete, compute environment must be DISABLED: before you can delete a compute environment, you must "
            "set its state to DISABLED with the UpdateComputeEnvironment API operation"
        )
    for queue in batch.queues.values():
        if any(one["computeEnvironment"] == arn for one in queue.get("computeEnvironmentOrder") or []):
            raise client_error("Cannot delete, found existing JobQueue relationship")
    refuse_changing(batch, arn, "delete")
    begin_change(batch, arn, "DELETING", {})
    ecs_backends[request.account][request.region].delete_cluster(environment["ecsClusterArn"])
    return {}
