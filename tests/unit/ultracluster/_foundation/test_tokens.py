"""What only the deployment knows is unset for rules."""

import aws_cdk as cdk
import pytest

from ultracluster import CapacityBlock, FileSystem
from ultracluster._foundation.tokens import known
from ultracluster_spec.findings import is_token

pytestmark = pytest.mark.slow


def test_texts_and_numbers_that_are_tokens_are_unset() -> None:
    size = cdk.Token.as_number({"Ref": "Size"})
    value = known(FileSystem(storage_capacity_gib=size, mount_name=cdk.Token.as_string({"Ref": "Name"})))
    assert not {"storage_capacity_gib", "mount_name"} & value.known().keys()
    assert value.deployment_type == "PERSISTENT_2"


def test_what_a_template_has_to_know_stays() -> None:
    name = cdk.Token.as_string({"Ref": "Name"})
    value = known(CapacityBlock(reservation_id=name, zone_id="use2-az3", name=name), besides={"name"})
    assert value.known().keys() >= {"name", "zone_id"}
    assert "reservation_id" not in value.known()


@pytest.mark.parametrize(
    "value",
    [
        cdk.Aws.REGION,
        f"arn:{cdk.Aws.PARTITION}:s3:::bucket",
        cdk.Token.as_number({"Ref": "Size"}),
        "us-east-2",
        "${AWS::Region}",
        "",
        4800,
        -1.5,
        0,
    ],
    ids=["Region", "in a text", "number", "word", "not ours", "empty", "size", "negative", "zero"],
)
def test_a_token_is_known_without_asking_the_cdk(value: str | float) -> None:
    assert is_token(value) is cdk.Token.is_unresolved(value)
