"""What a cluster uses is in its Region, as far as the app knows it; a bucket elsewhere is a warning."""

from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from tests.unit.ultracluster.builders import ZONE, new_stack, ultra_cluster

from ultracluster import Alarms, CapacityBlock
from ultracluster_spec.findings import FindingsError

KEY = "arn:aws:kms:{}:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
TOPIC = "arn:aws:sns:{}:123456789012:alarms"
GIVEN: dict[str, Callable[[cdk.Stack, str], Any]] = {
    "kms_key": lambda stack, region: kms.Key.from_key_arn(stack, "Given", KEY.format(region)),
    "notify": lambda stack, region: sns.Topic.from_topic_arn(stack, "Given", TOPIC.format(region)),
    "alarms": lambda _, region: Alarms(topic_arn=TOPIC.format(region)),
    "checkpoint_bucket": lambda stack, region: s3.Bucket.from_bucket_attributes(
        stack, "Given", bucket_name="ours", region=region
    ),
    "compile_cache": lambda stack, region: s3.Bucket.from_bucket_attributes(
        stack, "Given", bucket_name="ours", region=region
    ),
}


@pytest.mark.parametrize("region", ["us-east-2", "us-west-2", pytest.param(cdk.Aws.REGION, id="token")])
@pytest.mark.parametrize("name", GIVEN)
def test_what_a_cluster_uses_is_in_its_region(name: str, region: str) -> None:
    stack = new_stack()
    found = []
    try:
        made = ultra_cluster(stack, **{name: GIVEN[name](stack, region)})
        found = [each.data for each in made.node.metadata if "UC3181" in str(each.data)]
    except FindingsError as error:
        found = [str(each) for each in error.findings]
    if region != "us-west-2":
        assert found == []
    else:
        (text,) = found
        assert ("UC3181" if "bucket" in name or "cache" in name else "UC3180") in text
        assert "it is in us-west-2, the cluster in us-east-2" in text


@pytest.mark.parametrize(
    ("blocks", "refused"),
    [
        (["cr-0123456789abcdef0", "cr-0123456789abcdef1"], False),
        (["cr-0123456789abcdef0", "cr-0123456789abcdef0"], True),
        ([cdk.Aws.STACK_NAME, cdk.Aws.STACK_NAME], False),
    ],
)
def test_a_block_is_of_one_cluster_of_an_app(blocks: list[str], *, refused: bool) -> None:
    stack, found = new_stack(), []
    for number, block in enumerate(blocks):
        try:
            capacity = CapacityBlock(reservation_id=block, zone_id=ZONE)
            ultra_cluster(stack, f"C{number}", cluster_name=f"c{number}", capacity=capacity, zone_id=None)
        except FindingsError as error:
            found += [str(each) for each in error.findings]
    if refused:
        (text,) = found
        assert text.startswith(
            "UC4182: Test/C1: capacity: cr-0123456789abcdef0 is the Capacity Block of 'Test/C0' already"
        )
    else:
        assert found == []
