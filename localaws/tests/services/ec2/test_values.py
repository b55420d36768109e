"""Words, identifiers and tags that EC2 refuses in any request."""

from typing import Any

import pytest
from tests.refusals import refusal

pytestmark = pytest.mark.slow

BLOCK = {"CidrBlock": "10.9.0.0/16"}


def tagged(*tags: tuple[str, str]) -> dict[str, Any]:
    found = [{"Key": key, "Value": value} for key, value in tags]
    return {"TagSpecifications": [{"ResourceType": "vpc", "Tags": found}]}


def test_words_outside_of_an_enumeration_are_refused_in_ec2s_words(ec2: Any) -> None:
    assert refusal(ec2.allocate_address, Domain="VPC") == (
        "InvalidParameterValue",
        "Invalid value 'VPC' for domain.",
    )
    assert ec2.allocate_address(Domain="vpc")["AllocationId"]


def test_identifiers_of_another_form_are_refused(ec2: Any) -> None:
    assert refusal(ec2.modify_volume, VolumeId="disk") == (
        "InvalidVolumeID.Malformed",
        'Invalid id: "disk" (expecting "vol-...")',
    )


@pytest.mark.parametrize(
    ("tags", "code", "words"),
    [
        ([("aws:team", "a")], "InvalidParameterValue", "reserved for internal use"),
        ([("team", "a"), ("team", "b")], "InvalidParameterValue", "Duplicate tag key 'team'"),
        ([("k" * 129, "a")], "InvalidParameterValue", "key exceeds"),
        ([("team", "v" * 257)], "InvalidParameterValue", "value exceeds"),
        ([(f"k{number}", "") for number in range(51)], "TagLimitExceeded", "maximum number of Tags"),
    ],
)
def test_tags_are_refused_at_a_creation_and_afterwards(
    ec2: Any, tags: list[tuple[str, str]], code: str, words: str
) -> None:
    said = refusal(ec2.create_vpc, **BLOCK, **tagged(*tags))
    assert said[0] == code
    assert words in said[1]
    vpc = ec2.create_vpc(**BLOCK)["Vpc"]["VpcId"]
    found = [{"Key": key, "Value": value} for key, value in tags]
    assert refusal(ec2.create_tags, Resources=[vpc], Tags=found)[0] == code
