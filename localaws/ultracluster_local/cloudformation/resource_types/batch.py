"""AWS Batch."""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.cloudformation.errors import ResourceError
from ultracluster_local.cloudformation.providers import ApiProvider, Context, Provider, Tagging
from ultracluster_local.cloudformation.values import Properties
from ultracluster_local.services.batch.state import batch_of, complete_change

__all__ = ["PROVIDERS"]

_TAGS = Tagging(service="batch")


def _definition(context: Context, properties: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - a provider's signature
    """Omit what is no setting of the definition, and an empty ``RetryStrategy``, which AWS Batch itself refuses.

    aws-cdk-lib writes ``RetryStrategy: {}`` into each definition, and deploys them (aws-cdk, aws-batch/test/integ.multinode-job-definition).
    """
    return {
        key: part
        for key, part in properties.items()
        if key != "ResourceRetentionPolicy" and (part or key not in {"RetryStrategy", "Timeout"})
    }


_TO_LATEST = "updatetolatestimageversion"
"""A setting of updates, which CloudFormation takes at the creation as well."""


class _Changing(ApiProvider):
    """A type whose changes take time: as in CloudFormation, each one is awaited, and deletion follows disabling."""

    def create(self, context: Context, properties: Properties) -> str:
        arn = super().create(context, properties)
        try:
            self._wait(context, arn)
        except ResourceError:
            self.delete(context, arn, properties)
            raise
        return arn

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        arn = super().update(context, physical_id, old, new)
        self._wait(context, arn)
        return arn

    def delete(self, context: Context, physical_id: str, properties: Properties) -> None:
        if self.read(context, physical_id, properties) is None or self.updates is None:
            return
        operation, argument = self.updates
        self._complete(context, physical_id)
        context.call("batch", operation, {str(argument): physical_id, "state": "DISABLED"})
        self._complete(context, physical_id)
        super().delete(context, physical_id, properties)
        self._complete(context, physical_id)

    @staticmethod
    def _complete(context: Context, arn: str) -> None:
        complete_change(batch_of(context.region), arn)

    def _wait(self, context: Context, arn: str) -> None:
        self._complete(context, arn)
        shown = self.read(context, arn, {}) or {}
        if shown.get("status") == "INVALID":  # CloudFormation's error message: aws/aws-cdk#6427
            kind = context.resource_type.rsplit("::", 1)[-1]
            raise ResourceError(
                f"Operation failed, {kind} went INVALID with error: {shown['statusReason']} (HandlerErrorCode: NotStabilized)"
            )


class _ComputeEnvironment(_Changing):
    """A compute environment. Only an update can set its update policy, so one follows the creation."""

    def create(self, context: Context, properties: Properties) -> str:
        resources = properties.get("ComputeResources") or {}
        known = {key: part for key, part in resources.items() if key.lower() != _TO_LATEST}
        arn = super().create(context, {**properties, **({"ComputeResources": known} if resources else {})})
        self._set_policy(context, arn, properties)
        return arn

    def create_only(self, resource_type: str, old: Properties, new: Properties) -> frozenset[tuple[str, ...]]:
        """Return all settings except scaling as create-only unless ``ReplaceComputeEnvironment`` is false; its default is true."""
        paths = super().create_only(resource_type, old, new)
        if str(new.get("ReplaceComputeEnvironment", True)).lower() == "false":
            return paths
        resources = {**(old.get("ComputeResources") or {}), **(new.get("ComputeResources") or {})}
        scaling = {"maxvcpus", "minvcpus", "desiredvcpus"}
        return paths | {("ComputeResources", name) for name in resources if name.lower() not in scaling}

    def conditional_create_only(self, resource_type: str) -> frozenset[tuple[str, ...]]:  # noqa: ARG002 - one type
        """Return an empty set, because `create_only` decides."""
        return frozenset()

    def _set_policy(self, context: Context, arn: str, properties: Properties) -> None:
        policy = properties.get("UpdatePolicy")
        if policy:
            converted = {
                "terminateJobsOnUpdate": str(policy.get("TerminateJobsOnUpdate", False)).lower() == "true",
                "jobExecutionTimeoutMinutes": int(policy.get("JobExecutionTimeoutMinutes", 30)),
            }
            context.call(
                "batch", "UpdateComputeEnvironment", {"computeEnvironment": arn, "updatePolicy": converted}
            )
            self._complete(context, arn)

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:
        if old.get("UpdatePolicy") != new.get("UpdatePolicy"):
            self._set_policy(context, physical_id, new)
        return super().update(context, physical_id, old, new)


class _JobDefinition(ApiProvider):
    """A job definition. Every change registers a revision with its own ARN."""

    def update(self, context: Context, physical_id: str, old: Properties, new: Properties) -> str:  # noqa: ARG002 - all of it is sent
        """Register the next revision; the engine deregisters the old one afterwards."""
        name = physical_id.rsplit("/", 1)[-1].rsplit(":", 1)[0]
        return self.create(context, {**new, "JobDefinitionName": name})


PROVIDERS: Mapping[str, Provider] = {
    "AWS::Batch::ComputeEnvironment": _ComputeEnvironment.described(
        "batch",
        "ComputeEnvironment",
        "computeEnvironment",
        id_path="computeEnvironmentArn",
        generates=("ComputeEnvironmentName", 128),
        updates=("UpdateComputeEnvironment", "computeEnvironment"),
        partial=frozenset({"ComputeResources"}),
        apart=frozenset({"ReplaceComputeEnvironment", "UpdatePolicy"}),
        tagging=_TAGS,
    ),
    "AWS::Batch::JobQueue": _Changing.described(
        "batch",
        "JobQueue",
        "jobQueue",
        id_path="jobQueueArn",
        generates=("JobQueueName", 128),
        updates=("UpdateJobQueue", "jobQueue"),
        tagging=_TAGS,
    ),
    "AWS::Batch::SchedulingPolicy": ApiProvider.described(
        "batch",
        "SchedulingPolicy",
        "arn",
        id_path="arn",
        reads=("DescribeSchedulingPolicies", "arns[]", "schedulingPolicies[0]"),
        generates=("Name", 128),
        updates=("UpdateSchedulingPolicy", "arn"),
        tagging=_TAGS,
    ),
    "AWS::Batch::ServiceEnvironment": _Changing.described(
        "batch",
        "ServiceEnvironment",
        "serviceEnvironment",
        id_path="serviceEnvironmentArn",
        generates=("ServiceEnvironmentName", 128),
        updates=("UpdateServiceEnvironment", "serviceEnvironment"),
        tagging=_TAGS,
    ),
    "AWS::Batch::QuotaShare": _Changing.described(
        "batch",
        "QuotaShare",
        "quotaShareArn",
        id_path="quotaShareArn",
        reads=("DescribeQuotaShare", "quotaShareArn", "@"),
        updates=("UpdateQuotaShare", "quotaShareArn"),
        tagging=_TAGS,
    ),
    "AWS::Batch::JobDefinition": _JobDefinition.described(
        "batch",
        "JobDefinition",
        "jobDefinition",
        creates="RegisterJobDefinition",
        id_path="jobDefinitionArn",
        deletes=("DeregisterJobDefinition", "jobDefinition"),
        reads=("DescribeJobDefinitions", "jobDefinitions[]", "jobDefinitions[?status=='ACTIVE'] | [0]"),
        generates=("JobDefinitionName", 128),
        prepare=_definition,
    ),
}
