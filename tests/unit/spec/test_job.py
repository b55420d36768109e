"""Jobs in a rollout file."""

from collections.abc import Callable

import pytest

from ultracluster_spec.findings import Finding
from ultracluster_spec.neuron import Neuron
from ultracluster_stacks.config import LoadedRollout

_ENVIRONMENT = "{NEURON_RT_LOG_LEVEL: INFO}"
Findings = Callable[..., list[Finding]]
_IMAGE = "image: 1"
_FIRST_JOB = "waves[0].clusters[0].jobs[0]"


@pytest.mark.parametrize(
    ("setting", "code", "part"),
    [
        ("kind: single", "UC1023", "multi-node, single-node, precompile"),
        ("kind: single-node\n            array_size: 1", "UC6111", "2 to 10,000"),
        ("kind: single-node\n            array_size: 10001", "UC6111", "2 to 10,000"),
        ("neuron: {optlevel: 4}", "UC1023", "1, 2, 3"),
    ],
)
def test_a_setting_of_a_job_is_taken_or_refused(
    findings: Findings, setting: str, code: str, part: str
) -> None:
    found = findings((_IMAGE, f"{setting}\n            {_IMAGE}"))
    assert [each.code for each in found] == ([code] if code else [])
    assert all(part in str(each) and each.path.startswith(_FIRST_JOB) and each.location for each in found)


def test_settings_of_jobs_are_read(load: Callable[..., LoadedRollout]) -> None:
    edit = (_IMAGE, f"neuron: {{compiler_flags: [--a, --b]}}\n            attempts: 2\n            {_IMAGE}")
    (found,) = load(edit).config.waves[0].clusters[0].jobs
    assert found.neuron == Neuron(compiler_flags=("--a", "--b"))
    assert (found.kind, found.attempts, found.depends_on) == ("multi-node", 2, ())


def test_variables_keep_their_names_and_values(load: Callable[..., LoadedRollout]) -> None:
    edit = (_ENVIRONMENT, "{NEURON_RT_LOG_LEVEL: WARNING, OWN: x}")
    (found,) = load(edit).config.waves[0].clusters[0].jobs

    assert found.environment == {"NEURON_RT_LOG_LEVEL": "WARNING", "OWN": "x"}
