"""Kinds of jobs in a rollout: what each takes, what they wait for, and their Neuron settings."""

from collections.abc import Callable

import pytest

from ultracluster_catalog.neuron.neuron_settings import NeuronSettings
from ultracluster_rules.findings import Finding
from ultracluster_stacks.config import LoadedRollout
from ultracluster_stacks.config.models.neuron import NeuronConfig

Findings = Callable[..., list[Finding]]

_IMAGE = "image: 1"
_JOB = "waves[0].clusters[0].jobs[0]"
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
        ("kind: single", "UC1023", "multi-node, single-node, precompile"),
        ("kind: single-node\n            array_size: 2", "", ""),
        ("kind: single-node\n            array_size: 10000", "", ""),
        ("kind: single-node\n            array_size: 1", "UC6111", "2 to 10,000"),
        ("kind: single-node\n            array_size: 10001", "UC6111", "2 to 10,000"),
        ("array_size: 2", "UC6112", "for a multi-node job. Remove it, or set kind: single-node"),
        ("kind: single-node\n            nodes: 1", "UC6112", "set kind: multi-node"),
        ("phase: compile", "UC6112", "set kind: precompile"),
        ("method: first-steps", "UC6112", "set kind: precompile"),
        ("instance_type: trn1.2xlarge", "UC6112", "set kind: precompile"),
        ("neuron: {optlevel: 1, auto_cast: all, auto_cast_type: bf16}", "", ""),
        ("neuron: {optlevel: 4}", "UC1023", "1, 2, 3"),
        ("neuron: {exec_timeout_seconds: 0}", "", ""),
        ("neuron: {exec_timeout_seconds: -1}", "UC6011", "0 to 2,147,483,647"),
        ("neuron: {auto_cast_type: bf16}", "UC6012", "nothing is cast"),
        ("neuron: {log_level: DEBUG}", "UC6012", "got 'INFO', but the Neuron settings say DEBUG"),
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
    assert all(part in str(each) and each.path.startswith(_JOB) and each.location for each in found)


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
        ("instance_type: trn2.3xlarge\n            method: first-steps", []),
        (
            "instance_type: trn2.3xlarge\n            method: first-steps\n            phase: collect",
            ["UC6112"],
        ),
        ("instance_type: trn9.big", ["UC4001"]),
        ("instance_type: trn2.3xlarge\n            processes_per_node: 8", []),
        ("instance_type: trn2.3xlarge\n            processes_per_node: 9", ["UC6103"]),
    ],
)
def test_a_precompile_job_has_a_node_with_the_right_chips(
    findings: Findings, setting: str, codes: list[str]
) -> None:
    found = findings((_IMAGE, f"{_PRECOMPILE}{setting}\n            {_IMAGE}"))
    assert [each.code for each in found] == codes


def test_one_node_needs_no_efa(findings: Findings) -> None:
    edits = [("trn2.48xlarge", "trn1.2xlarge"), ("capacity-block", "on-demand")]
    assert "UC6102" in [each.code for each in findings(*edits)]
    edits.append((_IMAGE, f"kind: single-node\n            {_IMAGE}"))
    assert "UC6102" not in [each.code for each in findings(*edits)]


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
    ("cache", "codes"),
    [
        ('{expire_after_days: 1, expire_compilers: {"2.19": 3650}, request_metrics: true}', []),
        ("{on_file_system: true}", []),
        ("{expire_after_days: 0}", ["UC6017"]),
        ('{expire_compilers: {"2.19": 3651}}', ["UC6017"]),
        ('{expire_compilers: {"two": 30}}', ["UC6014"]),
        ("{on_file_system: true, expire_after_days: 30}", ["UC6018"]),
        ("{on_file_system: true, request_metrics: true}", ["UC6018"]),
        ("{replicate_to: [melbourne, mumbai], versioned: true}", []),
        ("{replicate_to: [melbourne, melbourne]}", ["UC5140"]),
        ("{replicate_to: [Melbourne]}", ["UC5110"]),
        ("{on_file_system: true, replicate_to: [melbourne]}", ["UC6018"]),
        ("{on_file_system: true, versioned: true}", ["UC6018"]),
        ("{replicate_to: [data]}\n        checkpoints: {bucket_name: data}", ["UC5142"]),
    ],
)
def test_a_compile_cache_has_the_settings_of_its_place(
    findings: Findings, cache: str, codes: list[str]
) -> None:
    found = findings((_JOBS, f"        compile_cache: {cache}\n{_JOBS}"))
    assert [each.code for each in found] == codes


def test_the_file_has_every_setting_that_the_constructs_have() -> None:
    ours = {name: field.annotation for name, field in NeuronConfig.model_fields.items()}
    assert set(ours) == set(NeuronSettings.__dataclass_fields__)
    assert NeuronConfig().settings() is None
    assert NeuronConfig(optlevel=3).settings() == NeuronSettings(optlevel=3)


def test_settings_of_jobs_are_read(load: Callable[..., LoadedRollout]) -> None:
    edit = (_IMAGE, f"neuron: {{compiler_flags: [--a, --b]}}\n            attempts: 2\n            {_IMAGE}")
    (found,) = load(edit).config.waves[0].clusters[0].jobs
    assert found.neuron.settings() == NeuronSettings(compiler_flags=("--a", "--b"))
    assert (found.kind, found.attempts, found.depends_on) == ("multi-node", 2, ())


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
