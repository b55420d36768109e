"""CloudWatch Logs: names, keys, streams and retention."""

from collections.abc import Mapping
from typing import Any

from moto.logs.metric_filters import MetricFilters
from moto.logs.models import LogGroup, LogsBackend, logs_backends

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Handlers, Request, ServiceError
from ultracluster_local.services.kms import key_allows_service
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []

_check = Checks(service="logs")
_handlers = Handlers(service="logs")


@_check("CreateLogGroup", "AssociateKmsKey")
def check_key(request: Request) -> None:
    """Refuse a key that does not exist or whose policy does not let CloudWatch Logs use it.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
    """
    key, name = request.parameters.get("kmsKeyId"), request.parameters.get("logGroupName", "")
    if not key:
        return
    group = request.arn("logs", f"log-group:{name}")
    context = {"aws:logs:arn": group}
    # The principal without Region is that of aws-samples/aws-batch-architecture-for-alphafold, alphafold-cfn-network.yaml.
    allowed = (
        all(
            key_allows_service(key, region=request.region, service=service, action=action, context=context)
            for action in ("kms:Encrypt", "kms:Decrypt")
        )
        for service in (f"logs.{request.region}.amazonaws.com", "logs.amazonaws.com")
    )
    if not any(allowed):
        problem = f"The specified KMS key does not exist or is not allowed to be used with Arn '{group}'"
        raise ServiceError("AccessDeniedException", problem)


@_check("CreateLogStream", "GetLogEvents", "PutLogEvents")
def check_stream(request: Request) -> None:
    """Refuse a stream that exists, or does not; the error of moto would name the group."""
    group = logs_backends[ACCOUNT][request.region].groups.get(request.parameters.get("logGroupName"))
    if group is None:
        return
    made = request.operation == "CreateLogStream"
    exists = request.parameters["logStreamName"] in group.streams
    if made and exists:
        raise ServiceError("ResourceAlreadyExistsException", "The specified log stream already exists")
    if not made and not exists:
        raise ServiceError("ResourceNotFoundException", "The specified log stream does not exist.")


@_check("DeleteMetricFilter")
def check_delete_metric_filter(request: Request) -> None:
    """Refuse a filter that does not exist: API_DeleteMetricFilter, ResourceNotFoundException."""
    filters = logs_backends[ACCOUNT][request.region].filters.metric_filters
    group, name = request.parameters["logGroupName"], request.parameters["filterName"]
    if all((one["logGroupName"], one["filterName"]) != (group, name) for one in filters):
        raise ServiceError("ResourceNotFoundException", "The specified metric filter does not exist.")


@_handlers("AssociateKmsKey")
@_handlers("DisassociateKmsKey")
def set_key(request: Request) -> Mapping[str, Any]:
    """Set or take away the key of a group, which moto lacks."""
    groups, name = logs_backends[ACCOUNT][request.region].groups, request.parameters.get("logGroupName")
    if name not in groups:
        raise ServiceError("ResourceNotFoundException", "The specified log group does not exist.")
    groups[name].kms_key_id = request.parameters.get("kmsKeyId")
    return {}


@instead_of(LogsBackend, "put_log_events")
def _put_events(original: Any, *given: Any, **named: Any) -> Any:
    """Answer the index after the last event that is too old: API_RejectedLogEventsInfo."""
    token, rejected = original(*given, **named)
    end = "tooOldLogEventEndIndex"
    return token, {**rejected, **({end: rejected[end] + 1} if end in rejected else {})}


@instead_of(MetricFilters, "add_filter")
def _put_filter(original: Any, filters: Any, name: str, pattern: str, group: str, *given: Any) -> None:
    """Replace the filter of the group that has this name: API_PutMetricFilter."""
    filters.delete_filter(name, group)
    original(filters, name, pattern, group, *given)
    filters.metric_filters[-1]["creationTime"] = int(CLOCK.now().timestamp() * 1000)


@instead_of(LogGroup, "to_describe_dict")
def _with_filters(original: Any, group: Any) -> dict[str, Any]:
    filters = logs_backends[ACCOUNT][group.region].filters
    return {
        **original(group),
        "metricFilterCount": len(filters.get_matching_filters(log_group_name=group.name)),
    }
