"""Every member of the requests that botocore's model knows is kept and answered, or refused by its name: none is dropped."""

from collections.abc import Iterator
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

_MODEL = botocore.session.get_session().get_service_model("ec2")
_MADE_UP = {
    "UserData": "bWltZQ==",
    "ResourceType": "instance",
    "CapacityReservationPreference": "capacity-reservations-only",
}
_SCALARS: dict[str, Any] = {
    "string": "x",
    "integer": 1,
    "long": 1,
    "boolean": True,
    "double": 1.5,
    "float": 1.5,
}


def _full(shape: Any, name: str = "") -> Any:
    """Return a value of a shape with all members."""
    if shape.type_name == "structure":
        return {member: _full(part, member) for member, part in shape.members.items()}
    if shape.type_name == "list":
        return [_full(shape.member, name)]
    if shape.type_name == "timestamp":
        return "2026-11-27T00:00:00Z"
    return _MADE_UP.get(name) or (shape.metadata.get("enum") or [_SCALARS[shape.type_name]])[0]


def _lost(sent: Any, shown: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of what was sent and is not shown."""
    if isinstance(sent, dict):
        for name, part in sent.items():
            yield from _lost(part, (shown or {}).get(name), f"{path}.{name}")
    elif isinstance(sent, list):
        yield from _lost(sent[0], (shown or [None])[0], path)
    elif shown is None:
        yield path


_DATA = _MODEL.shape_for("RequestLaunchTemplateData")
_SHOWN = _MODEL.shape_for("ResponseLaunchTemplateData")


@pytest.mark.parametrize("member", sorted(_DATA.members))
def test_a_launch_template_shows_each_member_of_its_data(local_aws: LocalAws, member: str) -> None:
    ec2 = local_aws.client("ec2")
    data = {member: _full(_DATA.members[member], member)}
    try:
        ec2.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData=data)
    except ClientError as error:
        assert member in str(error)  # noqa: PT017 - refused, and then by its name
        return
    (version,) = ec2.describe_launch_template_versions(LaunchTemplateName="nodes")["LaunchTemplateVersions"]
    shown = version["LaunchTemplateData"]

    if member in _SHOWN.members:
        assert list(_lost(data, shown)) == []
