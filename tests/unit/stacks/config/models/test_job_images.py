"""Images of AWS that are not made for the chips of the nodes are seen, wherever the copy is."""

from collections.abc import Callable

import pytest

from ultracluster_rules.findings import Finding

Findings = Callable[..., list[Finding]]

VLLM = "pytorch-inference-vllm-neuronx:0.29.0.1.2.0-neuronx-py314-sdk2.33.0-ubuntu26.04"
OLDER_VLLM = "pytorch-inference-vllm-neuronx:0.16.0-neuronx-py312-sdk2.31.1-ubuntu24.04"


@pytest.mark.parametrize(
    ("instance_type", "image", "codes"),
    [
        ("trn2.48xlarge", VLLM, []),
        ("trn1.32xlarge", VLLM, ["UC6330"]),
        ("trn1.32xlarge", OLDER_VLLM, []),
        ("trn1.32xlarge", "training:2026-11-20", []),
    ],
)
def test_warns_about_an_image_for_other_chips(
    findings: Findings, instance_type: str, image: str, codes: list[str]
) -> None:
    found = findings(("trn2.48xlarge", instance_type), ("training:2026-11-20", image))

    assert [finding.code for finding in found if finding.code == "UC6330"] == codes
    assert all(
        "is made for Trainium2, Trainium3; trn1.32xlarge has Trainium" in str(one)
        for one in found
        if one.code == "UC6330"
    )
