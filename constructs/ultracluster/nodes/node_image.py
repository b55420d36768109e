"""The AMI of nodes: an ID, or an image of the CDK that names one."""

from aws_cdk import Token
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster_rules.findings import FindingsError, reject
from ultracluster_rules.images import AMI


def image_id_of(scope: Construct, image: str | ec2.IMachineImage) -> str:
    """Return the ID of an AMI.

    Args:
        scope: Construct in the Region of the nodes.
        image: ID, or an image such as ``ec2.MachineImage.generic_linux``.

    Raises:
        FindingsError: If the ID is malformed, or the image is looked up at deployment (UC4110).
    """
    if isinstance(image, str):
        reject([] if Token.is_unresolved(image) else AMI.check(image, path="image_id"))
        return image
    image_id = image.get_image(scope).image_id
    if Token.is_unresolved(image_id):
        raise FindingsError.of(
            AMI.code,
            "the image is looked up at deployment, and a new one would replace all nodes",
            allowed="an AMI ID, or ec2.MachineImage.generic_linux with one for the Region",
            path="image_id",
        )
    return image_id
