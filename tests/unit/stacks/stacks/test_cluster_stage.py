"""A cluster of a rollout becomes stacks: the same ones for any start of the CDK, in every partition."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from tests.unit.stacks.conftest import QUICKSTART
from tests.unit.stacks.shown_warnings import shown
from tests.unit.stacks.two_clusters import assembled

from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.stacks.cluster_stage import ClusterStage

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
_ROLLOUT = """\
version: 1
waves:
  - name: first
    clusters:
      - name: train
        region: us-east-2
        zone_id: use2-az3
        instance_type: trn2.48xlarge
        nodes: 4
        image_id: ami-0123456789abcdef0
        capacity: {reservation_id: cr-0123456789abcdef0}
        notify: [ml@example.com]
        network: {vpc_id: vpc-0123456789abcdef0, subnet_id: subnet-0123456789abcdef0, security_group_id: sg-0123456789abcdef0}
"""


@pytest.mark.deep
def test_produces_the_same_templates_for_any_first_token_number() -> None:
    """The CDK starts its count of tokens at random and sorts merged ARNs by their tokens, so "99" would follow "100"."""
    # In a process of its own, which has counted few tokens.
    command = [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.unit.stacks.stacks.test_cluster_stage import main; main()",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout == "the same\n"


def main() -> None:
    (wave,) = load_rollout(ROOT / "tests/golden/next/ultraserver.yaml").config.waves
    (cluster,) = wave.clusters
    synthesize(cluster)  # the first synthesis also counts what the CDK defines once
    begin = next_token()
    expected, bucket = synthesize(cluster)
    # One bucket's token has four digits and the other's five.
    burn_tokens(until=10_000 - 5 - (bucket - begin))
    templates, bucket = synthesize(cluster)
    assert bucket < 10_000 < next_token()
    sys.stdout.write("the same\n" if templates == expected else "different\n")


def synthesize(cluster: Cluster) -> tuple[str, int]:
    """Return the templates of a cluster, and the number of the first bucket's token."""
    app = cdk.App(
        analytics_reporting=False, stack_traces=False, context={"@aws-cdk/aws-iam:minimizePolicies": True}
    )
    stage = ClusterStage(app, config=cluster)
    bucket = stage.node.find_child("Storage").node.find_child("Checkpoints")
    (number,) = re.findall(r"TOKEN\.(\d+)", bucket.bucket.bucket_arn)  # type: ignore[attr-defined]
    return json.dumps([stack.template for stack in stage.synth().stacks]), int(number)


def next_token() -> int:
    (number,) = re.findall(r"TOKEN\.(\d+)", cdk.Token.as_string({"Ref": "Any"}))
    return int(number)


def burn_tokens(*, until: int) -> None:
    while next_token() < until:
        pass


@pytest.mark.parametrize(
    ("suppress", "codes"),
    [
        ("", ["UC3208", "UC3106"]),
        ("        suppress: {UC3106: rules are in place}\n", ["UC3208"]),
    ],
)
def test_what_a_rollout_file_suppresses_is_acknowledged(
    tmp_path: Path, suppress: str, codes: list[str]
) -> None:
    path = tmp_path / "rollout.yaml"
    path.write_text(_ROLLOUT + suppress)
    (wave,) = load_rollout(path).config.waves
    assert shown(ClusterStage(cdk.App(), config=wave.clusters[0])) == codes


def test_settings_of_the_life_cycle_reach_its_function(tmp_path: Path) -> None:
    path = tmp_path / "rollout.yaml"
    path.write_text(
        _ROLLOUT
        + "        checkpoint_lead_minutes: 45\n        max_refusals: 7\n        sick_nodes: replace\n"
    )
    app = cdk.App()
    (config,) = load_rollout(path).config.clusters()
    stack = ClusterStage(app, config=config).node.find_child("Cluster")
    assert isinstance(stack, cdk.Stack)
    variables = {"UC_CHECKPOINT_LEAD_SECONDS": "2700", "UC_MAX_REFUSALS": "7", "UC_SICK_NODES": "replace"}
    cdk.assertions.Template.from_stack(stack).has_resource_properties(
        "AWS::Lambda::Function",
        {"Environment": {"Variables": cdk.assertions.Match.object_like(variables)}},
    )


def test_stacks_have_no_tags_which_would_replace_compute_environments(tmp_path: Path) -> None:
    # CloudFormation hands the tags of a stack to its resources: cloudformation-coverage-roadmap#2270.
    path = tmp_path / "rollout.yaml"
    path.write_text(_ROLLOUT + "        tags: {team: research}\n")
    app = cdk.App()
    (config,) = load_rollout(path).config.clusters()
    stage = ClusterStage(app, config=config)
    stacks = [each for each in stage.node.children if isinstance(each, cdk.Stack)]
    assembly = stage.synth()  # the CDK adds tags when it synthesizes
    assert [each.tags for each in assembly.stacks] == [{}] * 3
    buckets = cdk.assertions.Template.from_stack(stacks[1]).find_resources("AWS::S3::Bucket")
    tags = [each["Properties"]["Tags"] for each in buckets.values()]
    assert [{"Key": "team", "Value": "research"} in each for each in tags] == [True, True]


def test_cdk_deploy_by_hand_is_told_that_nothing_stops_dangerous_changes(tmp_path: Path) -> None:
    (tmp_path / "rollout.yaml").write_text(_ROLLOUT)
    (cluster,) = load_rollout(tmp_path / "rollout.yaml").config.clusters()
    stage = ClusterStage(cdk.App(), config=cluster)
    found = [
        message.entry.data
        for stack in stage.node.find_all()
        if isinstance(stack, cdk.Stack)
        for message in cdk.assertions.Annotations.from_stack(stack).find_info(
            "*", cdk.assertions.Match.any_value()
        )
    ]

    assert len(found) == 1
    assert "check them with `ultracluster plan`" in str(found[0])


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


def contents(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def test_synthesis_needs_no_lookup(assembly: Path) -> None:
    manifests = list(assembly.rglob("manifest.json"))
    assert len(manifests) == 2  # of the app and of the stage
    for manifest in manifests:
        assert not json.loads(manifest.read_text()).get("missing")


def test_synthesis_twice_produces_the_same_bytes_and_keeps_only_hashes_of_assets_in_the_home_directory(
    assembly: Path, synthesize: Callable[..., Any], tmp_path: Path
) -> None:
    again, home = tmp_path / "cdk.out", tmp_path / "home"
    home.mkdir()
    # Other hash seed, other time zone, other locale; only stack traces and run-time versions could tell them apart.
    machine = {"PYTHONHASHSEED": "4711", "TZ": "Asia/Kolkata", "LC_ALL": "C", "HOME": str(home)}
    done = synthesize(QUICKSTART, again, cached=False, **machine)
    assert done.returncode == 0, done.stderr
    assert contents(again) == contents(assembly)
    kept = {path.relative_to(home) for path in home.rglob("*") if path.is_file()}
    assert {path.parent for path in kept} <= {Path(".cdk/cache/fingerprints")}  # the CDK's own


def test_a_mistake_in_the_rollout_ends_in_its_line_and_not_in_a_traceback(
    synthesize: Callable[..., Any], tmp_path: Path
) -> None:
    rollout = tmp_path / "rollout.yaml"
    text = QUICKSTART.read_text()
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "nodes: 4 #" in each)
    rollout.write_text(text.replace("nodes: 4 #", "nodes: 0 #"))
    done = synthesize(rollout, tmp_path / "cdk.out")
    assert done.returncode == 2
    assert done.stderr.startswith("UC")
    assert f"rollout.yaml:{line}: waves[0].clusters[0].nodes: got 0" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "cdk.out/manifest.json").exists()
