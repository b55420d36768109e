"""Operations that moto has and the local AWS refuses by name, because moto accepts what AWS refuses.

No stack of a cluster, nor a test of one, needs what they make.
"""

from collections.abc import Mapping
from typing import Final

from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError

__all__ = ["NOT_SIMULATED"]

NOT_SIMULATED: Final[Mapping[str, tuple[str, ...]]] = {
    "ec2": ("CreateFleet", "CreateFlowLogs"),
    "lambda": ("CreateEventSourceMapping",),
    "logs": ("PutSubscriptionFilter",),
    "s3": ("PutBucketAccelerateConfiguration", "PutBucketCors", "PutBucketWebsite"),
    "secretsmanager": ("RotateSecret",),
}
"""Operations by service of boto3."""


def _refuse(request: Request) -> None:
    raise ServiceError(
        "InvalidAction",
        f"The local AWS does not simulate {request.operation}; see `ultracluster docs local-aws`.",
    )


for _service, _operations in NOT_SIMULATED.items():
    Checks(service=_service)(*_operations)(_refuse)
