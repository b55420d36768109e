"""Look up AMIs in every Region, and report all problems together."""

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
"""Gives the boto3 client of a service in a Region."""


def clients_of(profile: str | None) -> RegionClient:
    """Return a function that creates clients.

    Args:
        profile: Profile of the AWS configuration. None for boto3's own choice.

    Raises:
        FindingsError: If there is no such profile (UC9009).
    """
    session = aws_session(profile)
    config = Config(retries={"total_max_attempts": 3, "mode": "standard"}, connect_timeout=5, read_timeout=30)
    return cache(lambda service, region: session.client(service, region_name=region, config=config))


def find_images(
    clients: RegionClient, *, regions: Sequence[str], image: str, parameter: str | None, baked: str | None
) -> dict[str, FoundImage]:
    """Find the AMI of each Region.

    Args:
        clients: Gives clients.
        regions: Where to look.
        image: Name of a line of AMIs with a public parameter; used when neither of the others is given.
        parameter: Parameter of one's own.
        baked: Name of a `NeuronAmi`.

    Raises:
        FindingsError: With what is wrong in all Regions: UC4055, UC4056.
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
