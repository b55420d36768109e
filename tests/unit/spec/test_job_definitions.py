from functools import partial

import pytest

from ultracluster_spec.findings import Finding
from ultracluster_spec.instance_type import get_instance_type
from ultracluster_spec.job_definitions import (
    ARRAY_SIZE,
    ATTEMPTS,
    check_cache_address,
    check_compile_type,
    check_dependencies,
    check_dependency,
    check_fabric,
    check_gate_bandwidth,
    check_gate_bound,
    check_image_region,
    check_image_tag,
    check_launcher,
    check_meeting_place,
    check_nodes_can_talk,
    check_nodes_fit,
    check_phase,
    check_spot,
    check_timeout_seconds,
    check_variables,
)

TRN1, TRN2 = get_instance_type("trn1.32xlarge"), get_instance_type("trn2.48xlarge")


@pytest.mark.parametrize(
    ("broken", "kept", "code"),
    [
        (ATTEMPTS.check(11), ATTEMPTS.check(10), "UC6104"),
        (ARRAY_SIZE.check(1), ARRAY_SIZE.check(2), "UC6111"),
        (check_timeout_seconds(59), check_timeout_seconds(60), "UC6104"),
        (check_nodes_fit(5, 4), check_nodes_fit(4, 4), "UC6101"),
        (check_nodes_fit(0, None), check_nodes_fit(1, None), "UC6101"),
        (
            check_nodes_can_talk(2, "trn1.2xlarge", has_efa=False),
            check_nodes_can_talk(1, "trn1.2xlarge", has_efa=False),
            "UC6102",
        ),
        (check_meeting_place(2, has_place=False), check_meeting_place(1, has_place=False), "UC6118"),
        (check_spot(spot=True), check_spot(spot=False), "UC6308"),
        (check_launcher("jax", 2, ["a"]), check_launcher("jax", 1, ["a"]), "UC6140"),
        (check_launcher("raw", None, []), check_launcher("raw", None, ["a"]), "UC6142"),
        (
            check_variables({"AWS_BATCH_X": ""}, path=""),
            check_variables({"AWS_BATC": ""}, path=""),
            "UC6109",
        ),
        (
            check_variables({"UC_PROCESSES_PER_NODE": "1"}, path=""),
            check_variables({"UC_CLUSTER": "1"}, path=""),
            "UC6109",
        ),
        (check_cache_address("--cache_dir=s3://a"), check_cache_address("--cache=1"), "UC6010"),
        (check_image_tag("a:latest", "latest"), check_image_tag("a:1", "1"), "UC6107"),
        (
            check_image_region("a:1", None, "us-east-2"),
            check_image_region("a:1", "us-east-2", "us-east-2"),
            "UC6108",
        ),
        (check_dependencies(["a"] * 21), check_dependencies(["a"] * 20), "UC6113"),
        (check_dependencies(["a" * 257]), check_dependencies(["a" * 256]), "UC6113"),
        (
            check_dependency("a", earlier=["a"], known=None),
            check_dependency("a", earlier=["b"], known=["a"]),
            "UC6113",
        ),
        (check_phase("first-steps", "compile"), check_phase("first-steps", "all"), "UC6112"),
        (
            check_compile_type(TRN1, TRN2, phase="all"),
            check_compile_type(TRN1, TRN2, phase="compile"),
            "UC6114",
        ),
        (check_fabric("trn1.2xlarge", has_efa=False), check_fabric("x", has_efa=True), "UC6150"),
        (check_gate_bound(0, path=""), check_gate_bound(0.1, path=""), "UC6151"),
    ],
)
def test_a_rule_is_broken_just_beyond_its_bound(
    broken: list[Finding], kept: list[Finding], code: str
) -> None:
    assert [finding.code for finding in broken] == [code]
    assert kept == []


def test_ids_of_jobs_are_in_no_tag() -> None:
    assert check_dependencies(["a" * 257], tagged=False) == []


@pytest.mark.parametrize(
    ("instance_type", "nodes", "most"),
    [
        ("trn1.32xlarge", 2, 186),  # 800 Gbit/s are 93.1 GiB/s, of which two nodes need each only half
        ("trn1.32xlarge", 16, 99),
        ("trn2.48xlarge", 4, 496),  # 3,200 Gbit/s
        ("trn2.48xlarge", 1000, 372),
        ("trn2.48xlarge", 1, None),  # one node has NeuronLink only
        ("trn2u.48xlarge", 4, None),
    ],
)
def test_a_gate_asks_for_what_the_network_carries(instance_type: str, nodes: int, most: int | None) -> None:
    check = partial(check_gate_bandwidth, get_instance_type(instance_type), nodes, path="")

    assert check(10_000 if most is None else most) == []
    assert check(None) == []
    if most is not None:
        (found,) = check(most + 1)
        assert (found.code, found.allowed) == ("UC6158", f"at most {most} GiB/s")
