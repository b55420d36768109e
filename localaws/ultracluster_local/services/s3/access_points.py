"""S3's control API: access points, and the account's public access block.

The words are those that AWS answered to localstack/localstack, test_s3control.snapshot.json (2024-05-30).
"""

from moto.s3.models import s3_backends
from moto.s3control.models import s3control_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request, ServiceError

__all__: list[str] = []

_check = Checks(service="s3control")


@_check("CreateAccessPoint")
def check_create_access_point(request: Request) -> None:
    """Refuse an access point that exists, and one of a bucket that does not."""
    if request.parameters.get("Bucket") not in s3_backends[ACCOUNT]["aws"].buckets:
        raise ServiceError(
            "InvalidRequest", "Amazon S3 AccessPoint can only be created for existing bucket"
        )
    kept = s3control_backends[ACCOUNT]["aws"].access_points[ACCOUNT]
    if request.parameters["Name"] in kept:
        problem = "Your previous request to create the named accesspoint succeeded and you already own it."
        raise ServiceError("AccessPointAlreadyOwnedByYou", problem)


@_check("PutPublicAccessBlock")
def check_put_public_access_block(request: Request) -> None:
    """Refuse settings without one."""
    if not request.parameters.get("PublicAccessBlockConfiguration"):
        raise ServiceError("InvalidRequest", "Must specify at least one configuration.")
