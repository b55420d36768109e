"""Members of resource groups."""

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_members_are_added_to_and_removed_from_a_group(local_aws: LocalAws) -> None:
    groups = local_aws.client("resource-groups")
    group = groups.create_group(Name="g", Configuration=[{"Type": "AWS::EC2::CapacityReservationPool"}])[
        "Group"
    ]["GroupArn"]
    arns = [f"arn:aws:ec2:us-east-1:123456789012:capacity-reservation/cr-{n}" for n in "ab"]
    groups.group_resources(Group="g", ResourceArns=arns)
    groups.ungroup_resources(Group=group, ResourceArns=arns[:1])
    shown = groups.list_group_resources(Group=group)["Resources"]
    assert [one["Identifier"]["ResourceArn"] for one in shown] == arns[1:]
    with pytest.raises(ClientError) as error:
        groups.list_group_resources(Group="nobody")
    assert code(error) == "NotFoundException"
