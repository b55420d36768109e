"""VPC flow logs: what CreateFlowLogs refuses of their destination.

The words are those that AWS answered to localstack/localstack, tests/aws/services/ec2/test_ec2.snapshot.json (2024-09-24).
"""

from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError

__all__: list[str] = []

_check = Checks(service="ec2")


@_check("CreateFlowLogs")
def check_create_flow_logs(request: Request) -> None:
    """Refuse two destinations, none, and a type that does not fit."""
    group, destination = request.parameters.get("LogGroupName"), request.parameters.get("LogDestination")
    if group and destination:
        raise ServiceError(
            "InvalidParameter", "Please only provide LogGroupName or only provide LogDestination."
        )
    if not group and not destination:
        raise ServiceError(
            "InvalidParameter", "LogDestination can't be empty if LogGroupName is not provided."
        )
    if group and request.parameters.get("LogDestinationType", "cloud-watch-logs") != "cloud-watch-logs":
        problem = "LogDestination type must be cloud-watch-logs if LogGroupName is provided."
        raise ServiceError("InvalidParameter", problem)
