"""Instance types as users pass them: by name, as a description of ours, or as the CDK's class."""

from typing import TypeAlias

from aws_cdk import aws_ec2 as ec2

from ultracluster_catalog.machines.instance_type import InstanceType
from ultracluster_spec.findings import FindingsError
from ultracluster_spec.instance_type import get_instance_type

AnyInstanceType: TypeAlias = str | InstanceType | ec2.InstanceType
"""A name such as ``trn2.48xlarge``, an `ec2.InstanceType`, or the result of `describe_instance_type`."""


def instance_type_of(instance_type: AnyInstanceType) -> InstanceType:
    """Look up an instance type.

    Raises:
        FindingsError: If it is unknown (UC4001), or a description contradicts itself (UC4025).
    """
    try:
        return get_instance_type(
            instance_type.to_string() if isinstance(instance_type, ec2.InstanceType) else instance_type
        )
    except FindingsError as error:
        raise FindingsError(
            each if each.path else each.at("instance_type") for each in error.findings
        ) from None
