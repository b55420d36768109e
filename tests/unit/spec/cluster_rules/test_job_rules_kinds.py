"""The kind of a job decides about its settings, and jobs wait for others of their cluster."""

from collections.abc import Callable

import pytest

from ultracluster_spec.findings import Finding

Findings = Callable[..., list[Finding]]


_IMAGE = "image: 1"


_FIRST_JOB = "waves[0].clusters[0].jobs[0]"


_TRN1 = ("trn2.48xlarge", "trn1.32xlarge")


_PRECOMPILE = "kind: precompile\n            "


_JOBS = "        jobs:\n"
_NOTIFY = "        notify: [ml@example.com]\n"


def job(name: str, *more: str) -> str:
    lines = [f"name: {name}", "image: 123456789012.dkr.ecr.us-east-2.amazonaws.com/training:1"]
    return "          - " + "\n            ".join([*lines, "command: [x.py]", *more]) + "\n"


@pytest.mark.parametrize(
    ("setting", "code", "part"),
    [
        ("kind: single-node", "", ""),
        ("kind: single-node\n            array_size: 2", "", ""),
        ("kind: single-node\n            array_size: 10000", "", ""),
        (
            "array_size: 2",
            "UC6112",
            "for a multi-node job. Remove it, or define a single-node job (kind: single-node)",
        ),
        ("kind: single-node\n            nodes: 1", "UC6112", "(kind: multi-node"),
        ("phase: compile", "UC6112", "(kind: precompile"),
        ("method: first-steps", "UC6112", "(kind: precompile"),
        ("instance_type: trn1.2xlarge", "UC6112", "(kind: precompile"),
        ("neuron: {optlevel: 1, auto_cast: all, auto_cast_type: bf16}", "", ""),
        ("neuron: {exec_timeout_seconds: 30}", "", ""),
        ("neuron: {exec_timeout_seconds: 29}", "UC6416", "below the default of 30 seconds"),
        ("neuron: {exec_timeout_seconds: -1}", "UC6011", "got -1"),
        ("neuron: {auto_cast_type: bf16}", "UC6012", "nothing is cast"),
        ("neuron: {log_level: DEBUG}", "UC6012", "got 'INFO', but the Neuron settings set it to DEBUG"),
        ("neuron: {async_requests: 3}", "", ""),
        ("neuron: {async_requests: 4}", "UC6013", "device memory"),
        ("depends_on: [pretrain]", "UC6113", "'pretrain' waits for 'pretrain'"),
        ("depends_on: [other]", "UC6113", "unknown job 'other'"),
    ],
)
def test_a_setting_of_a_job_is_taken_or_refused(
    findings: Findings, setting: str, code: str, part: str
) -> None:
    found = findings((_IMAGE, f"{setting}\n            {_IMAGE}"))
    assert [each.code for each in found] == ([code] if code else [])
    assert all(part in str(each) and each.path.startswith(_FIRST_JOB) and each.location for each in found)


def test_logical_cores_are_of_trainium2_only(findings: Findings) -> None:
    setting = (_IMAGE, f"neuron: {{logical_nc_config: 1}}\n            {_IMAGE}")
    assert findings(setting) == []
    assert "UC6011" in [each.code for each in findings(setting, _TRN1)]


@pytest.mark.parametrize(
    ("setting", "codes"),
    [
        ("", ["UC6116"]),  # trn2.3xlarge is not offered in use2-az3
        ("instance_type: trn2.3xlarge", []),
        ("instance_type: trn1.2xlarge", ["UC6114"]),
        ("instance_type: trn1.2xlarge\n            phase: collect", ["UC6114"]),
        ("instance_type: trn1.2xlarge\n            phase: compile", []),
        ("phase: compile", []),  # on CPUs
        ("instance_type: cpu\n            phase: compile", []),
        ("instance_type: cpu", ["UC6114"]),
        ("instance_type: cpu\n            method: first-steps", ["UC6114"]),
        ("instance_type: trn2.3xlarge\n            method: first-steps", []),
        (
            "instance_type: trn2.3xlarge\n            method: first-steps\n            phase: collect",
            ["UC6112"],
        ),
        ("instance_type: trn9.big", ["UC4001"]),
        ("instance_type: trn2.3xlarge\n            processes_per_node: 4", []),
        ("instance_type: trn2.3xlarge\n            processes_per_node: 5", ["UC6103"]),
        (
            "instance_type: trn2.3xlarge\n            processes_per_node: 8\n            neuron: {logical_nc_config: 1}",
            [],
        ),
    ],
)
def test_a_precompile_job_has_a_node_with_the_right_chips(
    findings: Findings, setting: str, codes: list[str]
) -> None:
    found = findings((_IMAGE, f"{_PRECOMPILE}{setting}\n            {_IMAGE}"))
    assert [each.code for each in found] == codes


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


_ENVIRONMENT_LINE = "            environment: {NEURON_RT_LOG_LEVEL: INFO}\n"
_GATES = "            gates: {fabric: true, smoke: true}\n"


def test_a_job_of_one_node_has_no_gates(findings: Callable[..., list[Finding]]) -> None:
    found = findings((_ENVIRONMENT_LINE, f"{_ENVIRONMENT_LINE}            kind: single-node\n{_GATES}"))
    assert [(each.code, each.path) for each in found] == [("UC6112", "waves[0].clusters[0].jobs[0].gates")]
