"""Clusters in other partitions: no ARN names the partition of another one."""

import json
import re
from pathlib import Path

import pytest
from tests.unit.stacks.conftest import QUICKSTART
from tests.unit.stacks.two_clusters import assembled

pytestmark = pytest.mark.slow

PLACES = {
    "cn-northwest-1": ("cnnw1-az1", "amazonaws.com.cn", "aws-cn"),
    "us-gov-west-1": ("usgw1-az1", "amazonaws.com", "aws-us-gov"),
}


def test_every_arn_is_of_the_partition_of_its_region(tmp_path: Path) -> None:
    head, clusters = QUICKSTART.read_text().split("    clusters:\n")
    there = [
        clusters.replace("us-east-2", region)
        .replace("use2-az3", zone_id)
        .replace("amazonaws.com", domain)
        .replace("abcdef0", f"abcdef{number}")
        for number, (region, (zone_id, domain, _)) in enumerate(PLACES.items(), start=1)
    ]
    rollout = tmp_path / "rollout.yaml"
    rollout.write_text(f"{head}    clusters:\n{there[0].rstrip()}\n{there[1]}")

    stacks = assembled(rollout)

    for region, (_, _, partition) in PLACES.items():
        texts = [
            json.dumps(stack.template, separators=(",", ":")) for stack in stacks if stack.region == region
        ]
        assert len(texts) == 3
        named = {found for text in texts for found in re.findall(r"\barn:(aws[a-z-]*):", text)}
        assert named <= {partition}
        # Others are put together by CloudFormation, which knows the partition.
        assert sum(text.count('"arn:",{"Ref":"AWS::Partition"}') for text in texts) > 5
