"""The AMI of nodes: an ID, or an image of the CDK that names one."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from ultracluster._foundation.tokens import follows_a_parameter, is_known
from ultracluster_spec.findings import FindingsError, is_token, reject
from ultracluster_spec.images import AMI


def image_id_of(scope: Construct, image: str | ec2.IMachineImage) -> str:
    """Return the ID of an AMI.

    Args:
        scope: Construct in the Region of the nodes.
        image: ID, or an image such as ``ec2.MachineImage.generic_linux``.

    Raises:
        FindingsError: If the ID is malformed, or the image is looked up at deployment (UC4110).
    """
    image_id = image if isinstance(image, str) else image.get_image(scope).image_id
    reject(AMI.check(image_id, path="image_id") if is_known(image_id) else ())
    if follows_a_parameter(image_id) or (image_id is not image and is_token(image_id)):
        raise FindingsError.of(
            AMI.code,
            "the image is looked up at deployment, and a new one would replace all nodes",
            allowed="an AMI ID, or ec2.MachineImage.generic_linux with one for the Region, or an image that cdk.context.json keeps: "
            "ec2.MachineImage.lookup, or from_ssm_parameter with cached_in_context=True",
            path="image_id",
        )
    return image_id
