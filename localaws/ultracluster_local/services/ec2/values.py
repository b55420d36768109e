"""Values that EC2 refuses in any request: words that are not of an enumeration, identifiers of another form, and tags.

The enumerations are those of botocore's model. EC2 words them otherwise than services that check against their model;
the form is that of kennyk65/aws-vpc-cloud-formation#1. Identifiers and tags:
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html and
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html (both read 2026-11).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ultracluster_local.instance.clients import service_model
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.ec2.errors import invalid_value
from ultracluster_local.services.handlers import Request, ServiceError

__all__: list[str] = []

_check = Checks(service="ec2")

_CHANGES: Final = ("Allocate", "Associate", "Attach", "Create", "Modify", "Replace", "Run")
_UNCHECKED: Final = frozenset({"InstanceType", "LaunchTemplateData", "TagSpecifications"})
"""EC2 has instance types that the model lacks, and looks at a launch template when it launches only."""

_FORMS: Final = {
    "AllocationId": ("eipalloc-", "InvalidAllocationID.Malformed"),
    "GroupId": ("sg-", "InvalidGroupId.Malformed"),
    "ImageId": ("ami-", "InvalidAMIID.Malformed"),
    "InstanceId": ("i-", "InvalidInstanceID.Malformed"),
    "NetworkInterfaceId": ("eni-", "InvalidNetworkInterfaceId.Malformed"),
    "SnapshotId": ("snap-", "InvalidSnapshotID.Malformed"),
    "VolumeId": ("vol-", "InvalidVolumeID.Malformed"),
}
_TAGGED: Final[Mapping[str, frozenset[str]]] = {
    "CreateCapacityReservation": frozenset({"capacity-reservation"}),
    "CreatePlacementGroup": frozenset({"placement-group"}),
    "CreateSecurityGroup": frozenset({"security-group"}),
    "CreateSubnet": frozenset({"subnet"}),
    "CreateVpc": frozenset({"vpc"}),
    "CreateVpcEndpoint": frozenset({"vpc-endpoint"}),
    "RunInstances": frozenset(
        {"elastic-gpu", "instance", "network-interface", "spot-instances-request", "volume"}
    ),
}
"""What an operation makes and tags; others are not checked."""
_LONGEST_KEY: Final = 128
_LONGEST_VALUE: Final = 256
_MOST_TAGS: Final = 50
_OF_AWS: Final = "aws:cloudformation:"
"""The prefix of the tags that CloudFormation sets, for which no user may ask."""


def _operations() -> Iterator[str]:
    for name in service_model("ec2").operation_names:
        if name.startswith(_CHANGES) and "LaunchTemplate" not in name:
            yield name


@_check(*_operations())
def check_values(request: Request) -> None:
    """Refuse words and identifiers of a wrong form, and invalid tags."""
    shape = service_model("ec2").operation_model(request.operation).input_shape
    for problem in _problems(shape, request.parameters):
        raise problem
    for specification in request.parameters.get("TagSpecifications") or []:
        kind, kinds = specification.get("ResourceType"), _TAGGED.get(request.operation)
        if kinds and kind not in kinds:  # aws/aws-cli#2865
            raise invalid_value(f"'{kind}' is not a valid taggable resource type for this operation.")
        _check_tags(specification.get("Tags") or [])
    if request.operation == "CreateTags":
        _check_tags(request.parameters.get("Tags") or [])


def _problems(shape: Any, values: Mapping[str, Any]) -> Iterator[ServiceError]:
    for name, value in values.items():
        member = shape.members.get(name)
        if member is None or value is None or name in _UNCHECKED:
            continue
        if member.type_name == "structure" and isinstance(value, Mapping):
            yield from _problems(member, value)
        elif member.type_name == "list" and isinstance(value, list):
            for part in value:
                if member.member.type_name == "structure" and isinstance(part, Mapping):
                    yield from _problems(member.member, part)
        elif isinstance(value, str):
            yield from _of_text(name, value, member)


def _of_text(name: str, value: str, member: Any) -> Iterator[ServiceError]:
    words = member.metadata.get("enum")
    if words and value not in words:
        yield invalid_value(f"Invalid value '{value}' for {name[0].lower()}{name[1:]}.")
    prefix, code = _FORMS.get(name, ("", ""))
    if prefix and not re.fullmatch(rf"({prefix}[0-9a-f]+|resolve:ssm:.+)", value):
        yield ServiceError(code, f'Invalid id: "{value}" (expecting "{prefix}...")')


def _check_tags(tags: list[Mapping[str, Any]]) -> None:
    for key, count in Counter(str(tag.get("Key") or "") for tag in tags).items():
        if count > 1:
            raise invalid_value(f"Duplicate tag key '{key}' specified.")
        if key.lower().startswith("aws:") and not key.startswith(_OF_AWS):
            raise invalid_value(
                f"Value ({key}) for parameter key is invalid. Tag keys starting with 'aws:' are reserved for internal use",
            )
        if not 1 <= len(key) <= _LONGEST_KEY:
            raise invalid_value(f"Tag key exceeds the maximum length of {_LONGEST_KEY} characters")
    for tag in tags:
        if len(str(tag.get("Value") or "")) > _LONGEST_VALUE:
            raise invalid_value(
                f"Tag value exceeds the maximum length of {_LONGEST_VALUE} characters",
            )
    if len(tags) > _MOST_TAGS:
        raise ServiceError("TagLimitExceeded", "The maximum number of Tags for a resource has been reached.")
