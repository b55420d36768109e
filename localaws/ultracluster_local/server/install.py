"""Install our extensions into moto, once per process. Every module that patches moto is listed here."""

import functools
from typing import Any

from moto.budgets.responses import BudgetsResponse
from moto.cloudformation.responses import CloudFormationResponse
from moto.cloudtrail.responses import CloudTrailResponse
from moto.cloudwatch.responses import CloudWatchResponse
from moto.core.errors import COMMON_ERROR_CODES
from moto.core.responses import BaseResponse
from moto.ec2.responses import EC2Response
from moto.ecr.responses import ECRResponse
from moto.fsx.responses import FSxResponse
from moto.servicequotas.responses import ServiceQuotasResponse

from ultracluster_local.cloudformation import api, stack_set_api
from ultracluster_local.cloudformation.change_sets import api as change_set_api
from ultracluster_local.functions import lambda_runtime
from ultracluster_local.jobs import node_commands
from ultracluster_local.server import moto_caching as moto_costs
from ultracluster_local.services import (
    budgets,
    checks,
    cloudtrail,
    dynamodb,
    ecr,
    kms,
    lambda_functions,
    members,
    not_simulated,
    public_images,
    resource_groups,
    secretsmanager,
    service_quotas,
    ssm,
    tokens,
    values,
)
from ultracluster_local.services.auto_scaling import api as auto_scaling
from ultracluster_local.services.auto_scaling import templates as auto_scaling_templates
from ultracluster_local.services.batch import install as batch
from ultracluster_local.services.ec2 import capacity as ec2_capacity
from ultracluster_local.services.ec2 import capacity_blocks as ec2_capacity_blocks
from ultracluster_local.services.ec2 import capacity_extensions as ec2_capacity_extensions
from ultracluster_local.services.ec2 import deletions as ec2_deletions
from ultracluster_local.services.ec2 import endpoints as ec2_endpoints
from ultracluster_local.services.ec2 import instances as ec2_instances
from ultracluster_local.services.ec2 import internet_access as ec2_internet_access
from ultracluster_local.services.ec2 import launch_templates as ec2_launch_templates
from ultracluster_local.services.ec2 import networks as ec2_networks
from ultracluster_local.services.ec2 import placement_groups as ec2_placement_groups
from ultracluster_local.services.ec2 import security_groups as ec2_security_groups
from ultracluster_local.services.ec2 import tags as ec2_tags
from ultracluster_local.services.ec2 import values as ec2_values
from ultracluster_local.services.fsx import associations as fsx_associations
from ultracluster_local.services.fsx import file_systems as fsx
from ultracluster_local.services.handlers import ServiceError, answered
from ultracluster_local.services.iam import entities as iam
from ultracluster_local.services.iam import role_sessions
from ultracluster_local.services.iam import simulation as iam_simulation
from ultracluster_local.services.messaging import eventbridge, sns, sqs
from ultracluster_local.services.observability import cloudwatch, embedded_metrics, logs
from ultracluster_local.services.s3 import buckets as s3
from ultracluster_local.services.s3 import configurations as s3_configurations
from ultracluster_local.services.s3 import public_access as s3_public_access
from ultracluster_local.services.s3 import request_metrics as s3_request_metrics

__all__ = ["install"]


_UNKNOWN_CALL = "InvalidAction"
"""An error code common to all services."""


@functools.cache
def install() -> None:
    """Install our API operations, CloudFormation engine, Lambda runtime and refusal of unknown operations."""
    moto_costs.install()
    # Remove moto's CloudFormation operations, so that those we lack are refused instead of half done.
    for name, member in list(vars(CloudFormationResponse).items()):
        if callable(member) and not name.startswith("_") and name not in _KEPT_OF_CLOUDFORMATION:
            delattr(CloudFormationResponse, name)
    for part in (api, change_set_api, stack_set_api):
        part.handlers.install(CloudFormationResponse)
    CloudFormationResponse.RESPONSE_KEY_PATH_TO_TRANSFORMER = {}  # transformers are for moto's objects; ours need none
    for module in (
        ec2_placement_groups,
        ec2_launch_templates,
        ec2_capacity,
        ec2_capacity_blocks,
        ec2_capacity_extensions,
        ec2_tags,
    ):
        module.handlers.install(EC2Response)
    ec2_endpoints.install()
    ec2_security_groups.install()
    budgets.handlers.install(BudgetsResponse)
    ecr.handlers.install(ECRResponse)
    for described in (cloudwatch, dynamodb, ec2_networks, eventbridge, iam, kms, lambda_functions):
        described.install()
    for module in (fsx, fsx_associations):
        module.handlers.install(FSxResponse)
    cloudtrail.handlers.install(CloudTrailResponse)
    service_quotas.handlers.install(ServiceQuotasResponse)
    COMMON_ERROR_CODES.extend(
        (_UNKNOWN_CALL, members.UNSUPPORTED, *role_sessions.CODES)
    )  # without this, moto warns that the service's model lacks it
    # moto stores composite alarms and lacks only the operation.
    CloudWatchResponse.put_composite_alarm = CloudWatchResponse.put_metric_alarm
    auto_scaling.install()
    batch.install()
    embedded_metrics.install()
    ec2_instances.install()
    iam_simulation.install()
    public_images.install()
    resource_groups.install()
    s3.install()
    s3_public_access.install()
    s3_request_metrics.install()
    sqs.install()
    lambda_runtime.install()
    checks.install()
    members.install()
    values.install()
    tokens.install()
    BaseResponse.call_action = _refusing(BaseResponse.call_action)


_CHECKED = (
    auto_scaling_templates,
    cloudwatch,
    dynamodb,
    ec2_deletions,
    ec2_internet_access,
    ec2_values,
    eventbridge,
    iam,
    kms,
    lambda_functions,
    logs,
    node_commands,
    not_simulated,
    s3_configurations,
    secretsmanager,
    sns,
    ssm,
)
"""Modules whose checks of requests register themselves."""

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
