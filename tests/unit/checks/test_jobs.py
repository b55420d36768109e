"""Rules for job definitions: nodes, attempts, images, resources."""

import pytest

from ultracluster_checks import Source, check_templates


@pytest.mark.parametrize(
    ("ranges", "wrong"),
    [
        (["0", "1:"], ""),
        (["0:1", "1"], ""),
        ([":0", "1:1"], ""),
        (["0"], "no range has node 1 of 2"),
        (["1"], "no range has node 0 of 2"),
        (["0", "2"], "got '2', and the job has 2 nodes"),
        (["0:2"], "got '0:2', and the job has 2 nodes"),
    ],
)
def test_ranges_of_first_and_last_node_or_of_one_cover_every_node(ranges: list[str], wrong: str) -> None:
    parts = [{"TargetNodes": nodes} for nodes in ranges]
    nodes = {"MainNode": 0, "NumNodes": 2, "NodeRangeProperties": parts}
    job = {"Type": "AWS::Batch::JobDefinition", "Properties": {"Type": "multinode", "NodeProperties": nodes}}
    found = check_templates([Source(name="it", body={"Resources": {"Job": job}})]).findings
    problems = [each.problem for each in found if each.code == "UC6404"]

    assert problems[:1] == ([wrong] if wrong else [])
