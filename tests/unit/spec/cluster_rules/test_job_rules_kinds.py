"""The kind of a job decides about its settings, and jobs wait for others of their cluster."""

from collections.abc import Callable

import pytest

from ultracluster_spec.findings import Finding

Findings = Callable[..., list[Finding]]


_JOBS = "        jobs:\n"
_NOTIFY = "        notify: [ml@example.com]\n"


def job(name: str, *more: str) -> str:
    lines = [f"name: {name}", "image: 123456789012.dkr.ecr.us-east-2.amazonaws.com/training:1"]
    return "          - " + "\n            ".join([*lines, "command: [x.py]", *more]) + "\n"


@pytest.mark.parametrize(
    ("jobs", "said"),
    [
        (job("aa", "depends_on: [bb]") + job("bb"), []),
        (job("aa", "depends_on: [bb, bb]") + job("bb"), ["duplicate 'bb'"]),
        (
            job("aa", "depends_on: [bb]") + job("bb", "depends_on: [aa]"),
            ["'bb' waits for 'aa'", "'aa' waits for 'bb'"],
        ),
        (
            job("aa", "depends_on: [bb]") + job("bb", "depends_on: [cc]") + job("cc", "depends_on: [bb]"),
            ["'cc' waits for 'bb'", "'bb' waits for 'cc'"],
        ),
        (
            "".join(job(f"j{n}") for n in range(20))
            + job("aa", f"depends_on: [{', '.join(f'j{n}' for n in range(20))}]"),
            [],
        ),
        (
            "".join(job(f"j{n}") for n in range(21))
            + job("aa", f"depends_on: [{', '.join(f'j{n}' for n in range(21))}]"),
            ["got 21 jobs"],
        ),
    ],
)
def test_jobs_wait_for_others_of_their_cluster_and_in_no_circle(
    findings: Findings, valid: str, jobs: str, said: list[str]
) -> None:
    head = valid.partition(_JOBS)[0] + _NOTIFY
    found = findings(text=head + _JOBS + jobs)
    assert [each.code for each in found] == ["UC6113"] * len(said)
    assert all(part in str(each) for part, each in zip(said, found, strict=True))


def test_jobs_that_could_be_meant_are_listed_in_the_order_of_the_file(findings: Findings, valid: str) -> None:
    names = [f"job{number}" for number in range(9, 0, -1)]
    head = valid.partition(_JOBS)[0] + _NOTIFY

    (found,) = findings(text=head + _JOBS + "".join(map(job, names)) + job("last", "depends_on: [jobb]"))

    assert found.allowed == ", ".join(names)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("", "nodes: 1, processes_per_node: 4", ""),
        ("processes_per_node: 2", "nodes: 2, processes_per_node: 1", ""),
        ("", "nodes: 1", "4 workers, not 64"),
        ("neuron: {logical_nc_config: 1}", "neuron: {logical_nc_config: 1}", "8 workers, not 512"),
        ("phase: compile", "nodes: 4", ""),
        ("", "nodes: 1, processes_per_node: 4, neuron: {optlevel: 1}", "the Neuron settings are others"),
        ("", "nodes: 1, processes_per_node: 4, environment: {NEURON_CC_FLAGS: -O1}", "settings are others"),
    ],
)
def test_warns_of_graphs_that_a_job_will_not_find(
    findings: Findings, valid: str, before: str, after: str, said: str
) -> None:
    small = job("aa", "kind: precompile", "instance_type: trn2.3xlarge", *([before] if before else []))
    jobs = small + job("bb", "depends_on: [aa]", *after.split(", "))
    found = findings(text=valid.partition(_JOBS)[0] + _NOTIFY + _JOBS + jobs)
    assert [each.code for each in found] == (["UC6115"] if said else [])
    assert all(said in str(each) and each.path.endswith("jobs[1].depends_on[0]") for each in found)
