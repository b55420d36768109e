"""Look up AMIs by Region."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from botocore.config import Config

from ultracluster_catalog.neuron.neuron_images import IMAGE_KINDS
from ultracluster_rules.findings import Finding, FindingsError
from ultracluster_runtime.aws.aws_session import aws_session
from ultracluster_runtime.images import FoundImage, image_of_parameter, newest_baked_image

__all__ = ["clients_of", "find_images"]

RegionClient = Callable[[str, str], Any]
"""Returns the boto3 client of a service in a Region."""


def clients_of(profile: str | None) -> RegionClient:
    """Return a function that creates clients.

    Args:
        profile: AWS profile. None for boto3's default.

    Raises:
        FindingsError: If the profile does not exist (UC9009).
    """
    session = aws_session(profile)
    config = Config(retries={"total_max_attempts": 3, "mode": "standard"}, connect_timeout=5, read_timeout=30)
    return cache(lambda service, region: session.client(service, region_name=region, config=config))


def find_images(
    clients: RegionClient, *, regions: Sequence[str], image: str, parameter: str | None, baked: str | None
) -> dict[str, FoundImage]:
    """Find the AMI of each Region.

    Args:
        clients: Returns boto3 clients.
        regions: Regions to search.
        image: AMI family with a public parameter, used without `parameter` and `baked`.
        parameter: Name of an SSM parameter with an AMI ID.
        baked: Name of a `NeuronAmi`.

    Raises:
        FindingsError: UC4055 or UC4056, for all Regions together.
    """
    images: dict[str, FoundImage] = {}
    findings: list[Finding] = []
    for region in regions:

        def client(service: str, region: str = region) -> Any:
            return clients(service, region)

        try:
            if baked:
                images[region] = newest_baked_image(client, region=region, name=baked)
            else:
                name = parameter or IMAGE_KINDS[image].parameter or ""
                images[region] = image_of_parameter(client, region=region, parameter=name)
        except FindingsError as error:
            findings += error.findings
    if findings:
        raise FindingsError(findings)
    return images
