"""`ultracluster ami bake` on the local AWS creates a pipeline, runs it, and pins the rollout to its AMI."""

from collections.abc import Callable
from pathlib import Path

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
