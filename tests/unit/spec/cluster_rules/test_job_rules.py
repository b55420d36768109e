"""A job fits its nodes, its queue and its image."""

from collections.abc import Callable

import pytest
from tests.unit.stacks.config.capacity_edits import ON_DEMAND, SPILL, further, lines
from tests.unit.stacks.config.conftest import VALID
from tests.unit.stacks.config.machine_edits import BLOCK_MARKET, ON_DEMAND_MARKET, TYPE_LINE

from ultracluster_spec.findings import Finding

_CLUSTER = "waves[0].clusters[0]"
_JOB = f"{_CLUSTER}.jobs[0]"
Findings = Callable[..., list[Finding]]
_TYPE = "trn2.48xlarge"
_BLOCK = """          market_type: capacity-block
          reservation_id: cr-0123456789abcdef0
"""
_ON_DEMAND = (_BLOCK, "          market_type: on-demand\n")
NO_JOBS = (VALID[VALID.index("        jobs:") : VALID.index("        notify:")], "")
SMALL = "additional_queues: [{name: small, capacity: [spot]}]"
SPOT = further("name: spot, market_type: spot, max_nodes: 2")
_IMAGE = "image: 1"
VLLM = "pytorch-inference-vllm-neuronx:0.29.0.1.2.0-neuronx-py314-sdk2.33.0-ubuntu26.04"
OLDER_VLLM = "pytorch-inference-vllm-neuronx:0.16.0-neuronx-py312-sdk2.31.1-ubuntu24.04"


@pytest.mark.parametrize(
    "mistake",
    [
        (
            "image: 1",
            "launcher: jax\n            processes_per_node: 2\n            image: 1",
            "UC6140",
            f"{_JOB}.processes_per_node",
            "got 2 processes on a node with the launcher jax",
        ),
        *(
            ("image: 1", f"{setting}\n            image: 1", code, f"{_JOB}.{place}", problem)
            for setting, code, place, problem in (
                ("shared_memory_mib: 64", "UC6155", "shared_memory_mib", "got 64"),
                ("shared_memory_mib: 9000000", "UC6155", "shared_memory_mib", "memory of the container"),
                ("ulimits: {files: 1}", "UC6156", "ulimits.files", "got 'files'"),
                ("ulimits: {nofile: -2}", "UC6156", "ulimits.nofile", "got -2"),
                ("mounts: [{source: /var/run/docker.sock}]", "UC6157", "mounts[0].source", "docker.sock"),
                ("mounts: [{source: /opt, path: /fsx}]", "UC6157", "mounts[0]", "is mounted already"),
                (
                    "mounts: [{source: /opt}, {source: /x, path: /opt/}]",
                    "UC6157",
                    "mounts[1]",
                    "is mounted already",
                ),
            )
        ),
        ("[train.py]", "[]", "UC6142", f"{_JOB}.command", "command is required: the launcher"),
        (
            "image: 1",
            "timeout_hours: 71\n            image: 1",
            "UC6105",
            f"{_JOB}.timeout_hours",
            "for 70.8 hours",
        ),
        (
            "us-east-2.amazonaws",
            "us-west-2.amazonaws",
            "UC6108",
            f"{_JOB}.image",
            "the Amazon ECR of us-east-2",
        ),
    ],
)
def test_refuses_a_mistake_with_its_code_and_its_place(
    refused: Callable[..., None], mistake: tuple[str, ...]
) -> None:
    refused(*mistake)


@pytest.mark.parametrize(
    ("edits", "code"),
    [
        ([("image: 1", "nodes: 4\n            image: 1")], "UC6101"),
        ([("image: 1", "processes_per_node: 64\n            image: 1")], "UC6103"),
        (
            [
                (
                    "image: 1",
                    "processes_per_node: 128\n            neuron: {logical_nc_config: 1}\n            image: 1",
                )
            ],
            "UC6103",
        ),
        ([("image: 1", "launcher: jax\n            processes_per_node: 1\n            image: 1")], "UC6140"),
        ([("[train.py]", "[x]")], "UC6142"),
        ([("image: 1", "timeout_hours: 70\n            image: 1")], "UC6105"),
        ([_ON_DEMAND, ("image: 1", "timeout_hours: 71\n            image: 1")], "UC6105"),
        ([(":2026-11-20", "@sha256:" + "0" * 64)], "UC6107"),
        (
            [ON_DEMAND, further("name: spot, market_type: spot"), lines("queue: {capacity: [capacity]}")],
            "UC6308",
        ),
        ([ON_DEMAND, further("name: spot, market_type: spot, max_price_percent: 60"), NO_JOBS], "UC6308"),
        (
            [
                ON_DEMAND,
                further("name: spot, market_type: spot, launched_by: auto-scaling"),
                lines("queue: {capacity: [spot]}"),
            ],
            "UC6308",
        ),
        (
            [
                ON_DEMAND,
                further("name: own, market_type: on-demand, launched_by: auto-scaling"),
                ("- name: pretrain", "- name: pretrain\n            kind: single-node"),
            ],
            "UC6309",
        ),
        (
            [
                ON_DEMAND,
                further("name: spot, market_type: spot"),
                ("- name: pretrain", "- name: pretrain\n            kind: single-node"),
            ],
            "UC6308",
        ),
    ],
)
def test_accepts_the_last_allowed_value(
    accepted: Callable[..., None], edits: list[tuple[str, str]], code: str
) -> None:
    accepted(edits, code)


def test_processes_on_gpus_are_not_counted_in_neuroncores(findings: Findings) -> None:
    assert findings((_TYPE, "p5.48xlarge"), ("image: 1", "processes_per_node: 8\n            image: 1")) == []


def test_a_job_over_several_nodes_needs_efa(findings: Findings) -> None:
    without_efa = [_ON_DEMAND, (_TYPE, "trn1.2xlarge")]

    assert [finding.code for finding in findings(*without_efa)] == ["UC6102"]
    assert findings(*without_efa, ("image: 1", "nodes: 1\n            image: 1")) == []


@pytest.mark.parametrize(
    ("edits", "code", "path"),
    [
        ([ON_DEMAND, further("name: spot, market_type: spot")], "UC6308", "jobs[0].queue"),
        (
            [ON_DEMAND, further("name: own, market_type: on-demand, launched_by: auto-scaling")],
            "UC6309",
            "jobs[0].queue",
        ),
        (
            [
                (ON_DEMAND[0], f"{ON_DEMAND[1]}\n          launched_by: auto-scaling"),
                further("name: own, market_type: on-demand, launched_by: auto-scaling"),
            ],
            "UC6309",
            "jobs[0].queue",
        ),
        (
            [
                ON_DEMAND,
                further("name: spot, market_type: spot, launched_by: auto-scaling, max_price_percent: 60"),
            ],
            "UC4126",
            "additional_capacity[0].max_price_percent",
        ),
        (
            [
                ON_DEMAND,
                further(
                    "name: own, market_type: on-demand, launched_by: auto-scaling, allocation_strategy: best-fit"
                ),
            ],
            "UC4126",
            "additional_capacity[0].allocation_strategy",
        ),
    ],
)
def test_refuses_further_capacity_and_queues_at_their_place(
    refused_at: Callable[..., None], edits: list[tuple[str, str]], code: str, path: str | None
) -> None:
    refused_at(edits, code, path)


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


def test_one_node_needs_no_efa(findings: Findings) -> None:
    edits = [("trn2.48xlarge", "trn1.2xlarge"), ("capacity-block", "on-demand")]
    assert "UC6102" in [each.code for each in findings(*edits)]
    edits.append((_IMAGE, f"kind: single-node\n            {_IMAGE}"))
    assert "UC6102" not in [each.code for each in findings(*edits)]


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
