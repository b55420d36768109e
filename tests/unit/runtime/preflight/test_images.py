"""References to images in Amazon ECR."""

from ultracluster_runtime.preflight.images import Reference, read_reference


def test_parses_ecr_references_by_tag_or_digest() -> None:
    host = "123456789012.dkr.ecr.us-east-2.amazonaws.com"
    digest = f"sha256:{'0' * 64}"
    expected = Reference(
        account="123456789012", region="us-east-2", repository="team/training", image_id={"imageTag": "v1"}
    )
    assert read_reference(f"{host}/team/training:v1") == expected
    by_digest = read_reference(f"{host}/team/training:v1@{digest}")
    assert by_digest is not None
    assert by_digest.image_id == {"imageDigest": digest}
    assert read_reference("public.ecr.aws/neuron/pytorch-training:2.9") is None
