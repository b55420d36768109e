"""The examples of docs/how-to/use-secrets.md do what the page says."""

import re
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_batch as batch
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager

from ultracluster_stacks.config import load_rollout

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/how-to/use-secrets.md").read_text()
QUICKSTART = (ROOT / "stacks/rollouts/quickstart.yaml").read_text()


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_rollout_of_the_page_is_valid(tmp_path: Path) -> None:
    path = tmp_path / "rollout.yaml"
    before = QUICKSTART[: QUICKSTART.index("        file_system:\n")]
    path.write_text(before + "".join(f"        {line}\n" for line in block("yaml").splitlines()))

    loaded = load_rollout(path)
    assert loaded.warnings == ()
    (job,) = loaded.config.waves[0].clusters[0].jobs
    assert set(job.secrets) == {"HF_TOKEN", "WANDB_API_KEY"}


@pytest.mark.slow
def test_the_app_of_the_page_passes_a_secret() -> None:
    from tests.unit.ultracluster.builders import IMAGE, IMAGE_ID, ZONE, new_stack, of_type

    import ultracluster as uc

    stack = new_stack()
    network = uc.ClusterNetwork(
        stack,
        "Network",
        zone_id=ZONE,
        instance_type="trn2.48xlarge",
        node_count=2,
        endpoints=["secretsmanager"],
    )
    cluster = uc.UltraCluster(
        stack,
        "Cluster",
        instance_type="trn2.48xlarge",
        node_count=2,
        image_id=IMAGE_ID,
        network=network,
    )
    names = {
        "Job": uc.Job,
        "batch": batch,
        "secretsmanager": secretsmanager,
        "stack": stack,
        "cluster": cluster,
        "image": IMAGE,
        "corpus": s3.Bucket.from_bucket_name(stack, "Corpus", "corpus"),
    }
    exec(block("python"), names)  # noqa: S102 - the page is ours

    assert isinstance(stack, cdk.Stack)
    assert "HF_TOKEN" in str(of_type(stack, "AWS::Batch::JobDefinition"))
