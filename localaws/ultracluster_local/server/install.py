"""Install our extensions into moto, once per process. Every module that changes moto is listed here."""

import functools
from importlib import import_module
from typing import Any, Final

from moto.autoscaling.responses import AutoScalingResponse
from moto.batch.responses import BatchResponse
from moto.batch.urls import url_paths as batch_paths
from moto.budgets.responses import BudgetsResponse
from moto.cloudformation.responses import CloudFormationResponse
from moto.cloudtrail.responses import CloudTrailResponse
from moto.cloudwatch.responses import CloudWatchResponse
from moto.core.errors import COMMON_ERROR_CODES
from moto.core.responses import BaseResponse
from moto.ec2.responses import EC2Response
from moto.ecr.responses import ECRResponse
from moto.events.responses import EventsHandler
from moto.fsx.responses import FSxResponse
from moto.iam.responses import IamResponse
from moto.logs.responses import LogsResponse
from moto.resourcegroups.responses import ResourceGroupsResponse
from moto.resourcegroups.urls import url_paths as group_paths
from moto.servicequotas.responses import ServiceQuotasResponse

from ultracluster_local.server import moto_caching
from ultracluster_local.services import answers, checks, members, public_images, replacing, tokens, values
from ultracluster_local.services.handlers import HANDLERS, ServiceError, answered
from ultracluster_local.services.iam import role_sessions

__all__ = ["install"]


_UNKNOWN_CALL = "InvalidAction"
"""An error code common to all services."""

_MODULES: Final = (
    ("services.auto_scaling", "api processes templates"),
    ("services.batch", "compute_environments consumable_resources job_definitions job_queues jobs listing"),
    ("services.batch", "scheduling_policies service_environments service_jobs tags"),
    ("services", "budgets cloudtrail dynamodb"),
    ("services.ec2", "capacity capacity_blocks capacity_extensions deletions endpoints instances"),
    (
        "services.ec2",
        "internet_access launch_templates networks placement_groups security_groups tags values",
    ),
    ("services", "ecr"),
    ("services.fsx", "associations backups file_systems"),
    ("services.iam", "entities simulation"),
    ("services", "image_builder kms lambda_functions"),
    ("services.messaging", "eventbridge sns sqs"),
    ("services", "not_simulated"),
    ("services.observability", "cloudwatch embedded_metrics logs"),
    ("services", "public_images resource_groups"),
    ("services.s3", "buckets configurations kept public_access request_metrics"),
    ("services", "s3_files secretsmanager service_quotas ssm"),
    ("cloudformation", "api change_sets.api stack_set_api"),
    ("events", "delivery"),
    ("functions", "lambda_runtime"),
    ("jobs", "node_commands"),
)
"""Modules that register handlers, checks and replacements when they are imported; the first check of an operation is the first to refuse."""

_RESPONSES: Final = {
    "autoscaling": AutoScalingResponse,
    "batch": BatchResponse,
    "budgets": BudgetsResponse,
    "cloudformation": CloudFormationResponse,
    "cloudtrail": CloudTrailResponse,
    "ec2": EC2Response,
    "ecr": ECRResponse,
    "events": EventsHandler,
    "fsx": FSxResponse,
    "iam": IamResponse,
    "resource-groups": ResourceGroupsResponse,
    "logs": LogsResponse,
    "service-quotas": ServiceQuotasResponse,
}
"""Where moto looks for the operations of a service; services that moto lacks are not in it."""


@functools.cache
def install() -> None:
    """Install our API operations, CloudFormation engine, Lambda runtime and refusal of unknown operations."""
    moto_caching.install()
    _import_modules()
    # Remove moto's operations, so that those we lack are refused instead of half done.
    for response, kept in ((CloudFormationResponse, _KEPT_OF_CLOUDFORMATION), (AutoScalingResponse, ())):
        for name, member in list(vars(response).items()):
            if callable(member) and not name.startswith("_") and name not in kept:
                delattr(response, name)
    for handlers in HANDLERS:
        if handlers.service in _RESPONSES:
            handlers.install(_RESPONSES[handlers.service])
        if handlers.service == "batch":
            for operation in handlers.table:
                batch_paths.setdefault(f"{{0}}/v1/{operation.lower()}$", BatchResponse.dispatch)
    CloudFormationResponse.RESPONSE_KEY_PATH_TO_TRANSFORMER = {}  # transformers are for moto's objects; ours need none
    # The ARNs of quota shares have more slashes than moto's paths of tags match.
    batch_paths["{0}/v1/tags/(?P<arn>.+/quota-share/.+)$"] = BatchResponse.dispatch
    # moto derives Batch's actions from their paths; the base class names them as the API does.
    BatchResponse._get_action = BaseResponse._get_action  # noqa: SLF001 - see above
    for name in ("group-resources", "list-group-resources", "ungroup-resources"):
        group_paths[f"{{0}}/{name}$"] = ResourceGroupsResponse.dispatch
    COMMON_ERROR_CODES.extend(
        (_UNKNOWN_CALL, members.UNSUPPORTED, *role_sessions.CODES)
    )  # without this, moto warns that the service's model lacks it
    # moto stores composite alarms and lacks only the operation.
    CloudWatchResponse.put_composite_alarm = CloudWatchResponse.put_metric_alarm
    public_images.install()
    replacing.install()
    checks.install()
    members.install()
    values.install()
    tokens.install()
    BaseResponse.call_action = _refusing(BaseResponse.call_action)
    answers.install()


def _import_modules() -> None:
    for package, names in _MODULES:
        for name in names.split():
            import_module(f"ultracluster_local.{package}.{name}")


_KEPT_OF_CLOUDFORMATION = frozenset({"cloudformation_backend", "cfnresponse"})


def _refusing(call_action: Any) -> Any:
    """Refuse an unknown operation by name with HTTP 400; SDKs retry a 500 for half a minute."""

    @functools.wraps(call_action)
    def refuse_unknown(response: Any) -> Any:
        try:
            return call_action(response)
        except NotImplementedError:
            action = response._get_action()  # noqa: SLF001 - moto has no public name for it
            error = ServiceError(
                _UNKNOWN_CALL,
                f"The local AWS has no {response.boto3_service_name} {action}; see `ultracluster docs local-aws`.",
            )
            return answered(response, error)
        except (KeyError, ValueError) as problem:
            if response.boto3_service_name != "dynamodb":
                raise
            error = ServiceError("ValidationException", f"Invalid expression: Syntax error; {problem}")
            return answered(response, error)

    return refuse_unknown
