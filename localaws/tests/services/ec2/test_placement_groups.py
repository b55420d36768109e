"""Placement groups."""

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow


def code(error: pytest.ExceptionInfo[ClientError]) -> str:
    return str(error.value.response["Error"]["Code"])


def test_placement_group_is_found_by_name_and_refused_twice(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")
    ec2.create_placement_group(GroupName="nodes", Strategy="cluster")
    (found,) = ec2.describe_placement_groups(GroupNames=["nodes"])["PlacementGroups"]
    assert (found["Strategy"], found["State"]) == ("cluster", "available")
    with pytest.raises(ClientError) as caught:
        ec2.create_placement_group(GroupName="nodes")
    assert code(caught) == "InvalidPlacementGroup.Duplicate"
    ec2.delete_placement_group(GroupName="nodes")
    with pytest.raises(ClientError) as caught:
        ec2.describe_placement_groups(GroupNames=["nodes"])
    assert code(caught) == "InvalidPlacementGroup.Unknown"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"Strategy": "spread"}, {"SpreadLevel": "rack"}),
        ({"Strategy": "spread", "SpreadLevel": "host"}, {"SpreadLevel": "host"}),
        ({"Strategy": "partition"}, {"PartitionCount": 2}),
        ({"Strategy": "partition", "PartitionCount": 7}, {"PartitionCount": 7}),
    ],
)
def test_a_group_shows_the_default_of_its_strategy(
    local_aws: LocalAws, given: dict[str, object], shown: dict[str, object]
) -> None:
    group = local_aws.client("ec2").create_placement_group(GroupName="nodes", **given)["PlacementGroup"]

    assert group == group | shown
