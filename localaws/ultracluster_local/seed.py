"""What a Region holds before anything is deployed: the CDK's bootstrap, without its stack."""

from ultracluster_local.clients import Clients
from ultracluster_local.environment import ACCOUNT
from ultracluster_local.state import remembered

__all__ = ["BOOTSTRAP_VERSION", "bootstrap_bucket", "seed_region"]

BOOTSTRAP_VERSION = "30"
"""Version of the CDK's bootstrap template that is claimed; the CLI asks SSM for it before it deploys."""

_QUALIFIER = "hnb659fds"  # the CDK's default


def bootstrap_bucket(region: str) -> str:
    """Return the name of the bucket that the CDK publishes assets to."""
    return f"cdk-{_QUALIFIER}-assets-{ACCOUNT}-{region}"


def seed_region(clients: Clients, region: str) -> None:
    """Make a Region bootstrapped, once; every later call does nothing."""
    seeded = remembered("seed", region=region, new=list[bool])
    if seeded:
        return
    seeded.append(True)
    configuration = (
        {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
    )
    clients.get("s3", region).create_bucket(Bucket=bootstrap_bucket(region), **configuration)
    clients.get("ssm", region).put_parameter(
        Name=f"/cdk-bootstrap/{_QUALIFIER}/version", Value=BOOTSTRAP_VERSION, Type="String"
    )
