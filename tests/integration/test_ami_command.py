"""`ultracluster ami resolve` pins rollouts to AMIs of the local AWS, and reports errors."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ultracluster_catalog.neuron.neuron_images import BAKED_IMAGE_TAG
from ultracluster_cli.main import main
from ultracluster_local import LocalAws
from ultracluster_stacks.config import load_rollout

pytestmark = pytest.mark.slow

ROLLOUT = """\
# Two Regions.
version: 1
waves:
  - name: first
    clusters:
      - name: one
        region: us-east-2
        zone_id: use2-az3
        instance_type: trn2.48xlarge
        nodes: 1
        capacity: {reservation_id: cr-0123456789abcdef0}
      - name: two
        region: us-east-1
        zone_id: use1-az6
        instance_type: trn1.32xlarge
        nodes: 1
        image_id: ami-0123456789abcdef0 # old
        capacity: {reservation_id: cr-0123456789abcdef1}
"""

Resolve = Callable[..., int]


@pytest.fixture
def rollout(tmp_path: Path) -> Path:
    path = tmp_path / "rollout.yaml"
    path.write_text(ROLLOUT)
    return path


@pytest.fixture
def resolve(local_aws: LocalAws, rollout: Path, monkeypatch: pytest.MonkeyPatch) -> Resolve:
    for name, value in local_aws.environment("us-east-2", base={}).items():
        monkeypatch.setenv(name, value)
    return lambda *options: main(["ami", "resolve", str(rollout), *options])


def parameter(local_aws: LocalAws, region: str, name: str) -> str:
    return str(local_aws.client("ssm", region).get_parameter(Name=name)["Parameter"]["Value"])


def test_pins_each_cluster_to_the_newest_image_of_its_region(
    local_aws: LocalAws, resolve: Resolve, rollout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert resolve("--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert rollout.read_text() == ROLLOUT
    assert shown["written"] is False

    assert resolve("--json", "--write") == 0
    answer = capsys.readouterr()
    rows: list[dict[str, Any]] = json.loads(answer.out)["clusters"]
    assert rows == shown["clusters"]
    name = "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id"
    ids = {region: parameter(local_aws, region, name) for region in ("us-east-2", "us-east-1")}
    assert {row["region"]: row["image_id"] for row in rows} == ids
    assert [row["image_id_now"] for row in rows] == [None, "ami-0123456789abcdef0"]
    assert all(row["name"].startswith("al2023-ami-ecs-neuron-hvm-") and row["age_days"] >= 0 for row in rows)
    text = rollout.read_text()
    assert text.startswith("# Two Regions.\n")
    assert f'image_id: "{ids["us-east-1"]}" # old' in text
    clusters = load_rollout(rollout).config.waves[0].clusters
    assert {cluster.region: cluster.image_id for cluster in clusters} == ids
    assert "warning: UC4058: ecs-neuron is not known to include efa-driver, lustre-client" in answer.err


def test_accepts_a_deep_learning_ami_and_a_private_parameter(
    local_aws: LocalAws, resolve: Resolve, capsys: pytest.CaptureFixture[str]
) -> None:
    assert resolve("--image", "dlami/base/amazon-linux-2023", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["clusters"]
    assert all(row["name"] == "fake of the Neuron DLAMI base/amazon-linux-2023" for row in rows)
    assert rows[0]["image_id"] != rows[1]["image_id"]
    for region, row in (("us-east-2", rows[0]), ("us-east-1", rows[1])):
        local_aws.client("ssm", region).put_parameter(Name="/ours", Value=row["image_id"], Type="String")
    assert resolve("--parameter", "/ours", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert [row["image_id"] for row in shown["clusters"]] == [row["image_id"] for row in rows]
    assert shown["warnings"] == []


def test_takes_the_newest_image_that_was_baked(
    local_aws: LocalAws, resolve: Resolve, capsys: pytest.CaptureFixture[str]
) -> None:
    assert resolve("--baked", "nodes") == 2
    assert capsys.readouterr().err.count("UC4055") == 2  # both Regions at once
    ids = {}
    for region in ("us-east-2", "us-east-1"):
        ec2 = local_aws.client("ec2", region)
        ids[region] = ec2.register_image(Name="baked", RootDeviceName="/dev/xvda")["ImageId"]
        ec2.create_tags(Resources=[ids[region]], Tags=[{"Key": BAKED_IMAGE_TAG, "Value": "nodes"}])
    assert resolve("--baked", "nodes", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["clusters"]
    assert {row["region"]: row["image_id"] for row in rows} == ids


@pytest.mark.slow
def test_a_pipeline_is_created_run_and_its_ami_is_pinned(
    local_aws: LocalAws,
    resolve: Resolve,
    rollout: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert resolve  # the environment of the local AWS
    (rollout.parent / "node_modules").symlink_to(Path(__file__).parents[2] / "node_modules")
    monkeypatch.chdir(rollout.parent)
    words = ["ami", "bake", "fresh", str(rollout), "--region", "us-east-2", "--cluster", "one", "--write"]

    assert main([*words, "--yes"]) == 0, capsys.readouterr().err
    err = capsys.readouterr().err
    assert "Creating the pipeline fresh" in err
    assert "AVAILABLE" in err
    (cluster, _) = (one for _, one in load_rollout(rollout).config.located_clusters())
    (image,) = local_aws.client("ec2", "us-east-2").describe_images(ImageIds=[cluster.image_id])["Images"]
    assert {"Key": BAKED_IMAGE_TAG, "Value": "fresh"} in image["Tags"]

    assert main([*words, "--yes"]) == 0  # the second build uses the pipeline
    assert "Creating" not in capsys.readouterr().err
