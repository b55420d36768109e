"""Clusters in other partitions: no ARN names the partition of another one."""

import json
import re
from pathlib import Path

import pytest
from tests.unit.stacks.conftest import QUICKSTART, synthesize_rollout

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

    done = synthesize_rollout(rollout, tmp_path / "cdk.out")

    assert done.returncode == 0, done.stderr
    for region, (_, _, partition) in PLACES.items():
        templates = list(tmp_path.glob(f"cdk.out/*{region}/*.template.json"))
        assert len(templates) == 3
        texts = [path.read_text() for path in templates]
        named = {found for text in texts for found in re.findall(r"\barn:(aws[a-z-]*):", text)}
        assert named <= {partition}
        # Others are put together by CloudFormation, which knows the partition.
        assert sum(text.count('"arn:",{"Ref":"AWS::Partition"}') for text in map(_compact, texts)) > 5


def _compact(template: str) -> str:
    return json.dumps(json.loads(template), separators=(",", ":"))
