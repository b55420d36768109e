"""A job fits its nodes, its queue and its image."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.capacity_edits import ON_DEMAND, SPILL, further, lines
from tests.unit.stacks.config.machine_edits import BLOCK_MARKET, ON_DEMAND_MARKET, TYPE_LINE

from ultracluster_spec.findings import Finding

Findings = Callable[..., list[Finding]]
_TYPE = "trn2.48xlarge"
SMALL = "additional_queues: [{name: small, capacity: [spot]}]"
SPOT = further("name: spot, market_type: spot, max_nodes: 2")
VLLM = "pytorch-inference-vllm-neuronx:0.29.0.1.2.0-neuronx-py314-sdk2.33.0-ubuntu26.04"
OLDER_VLLM = "pytorch-inference-vllm-neuronx:0.16.0-neuronx-py312-sdk2.31.1-ubuntu24.04"


def test_processes_on_gpus_are_not_counted_in_neuroncores(findings: Findings) -> None:
    assert findings((_TYPE, "p5.48xlarge"), ("image: 1", "processes_per_node: 8\n            image: 1")) == []


def job(text: str) -> tuple[str, str]:
    """Add fields to the job."""
    return "          - name: pretrain", f"          - name: pretrain\n            {text}"


@pytest.mark.parametrize(
    ("edits", "codes"),
    [
        ([ON_DEMAND, SPOT, lines(f"queue: {{capacity: [capacity]}}\n        {SMALL}"), job("queue: small")], {"UC6308"}),
        (
            [
                ON_DEMAND,
                SPOT,
                lines(f"queue: {{capacity: [capacity]}}\n        {SMALL}"),
                job("kind: single-node\n            queue: small"),
            ],
            set(),
        ),
        ([ON_DEMAND, SPOT, job("kind: single-node")], set()),
        ([lines("additional_queues: [{name: other}]"), job("queue: othr")], {"UC6315"}),
        ([lines("additional_queues: [{name: other}]"), job("queue: other")], set()),
        ([lines("additional_queues: [{name: other}]"), job("kind: precompile\n            queue: other")], {"UC6315"}),
        (
            [further(SPILL), lines("additional_queues: [{name: less, capacity: [spill]}]"), job("queue: less\n            nodes: 3")],
            {"UC6101"},
        ),
        (
            [further(SPILL), lines("additional_queues: [{name: less, capacity: [spill]}]"), job("queue: less\n            nodes: 2")],
            set(),
        ),
    ],
)  # fmt: skip
def test_a_job_fits_its_queue(findings: Findings, edits: list[tuple[str, str]], codes: set[str]) -> None:
    checked = {"UC6308", "UC6315", "UC6101"}
    assert {each.code for each in findings(*edits)} & checked == codes


@pytest.mark.parametrize(("said", "refused"), [("false", True), ("true", False)])
def test_several_nodes_without_efa_are_said_to_be_meant(findings: Findings, said: str, refused: bool) -> None:
    found = findings(
        (TYPE_LINE, TYPE_LINE.replace("trn2.48", "inf2.48")),
        (BLOCK_MARKET, ON_DEMAND_MARKET),
        ("- name: pretrain", f"- name: pretrain\n            without_efa: {said}"),
    )
    assert ("UC6102" in {each.code for each in found}) == refused


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
