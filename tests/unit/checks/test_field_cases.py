"""What AWS was seen to refuse, or to accept and let fail later, is found before a deployment."""

import tomllib
from pathlib import Path
from typing import Final

import pytest

from ultracluster_checks import Source, check_templates
from ultracluster_stacks.yaml_template import read_yaml_template

_CASES: Final = Path(__file__).parents[3] / "localaws/tests/field/cases"
_PAIRS = {
    f"{folder.parent.name}/{folder.name}": folder
    for folder in sorted(_CASES.glob("*/*"))
    if (folder / "template.yaml").exists() and (folder / "good.yaml").exists()
}

# What the template of a case breaks and its corrected form does not.
FOUND = {
    "batch/ce-efa-sg-one-way": "UC3201",
    "batch/ce-latest-not-followed": "UC4216",
    "batch/ce-neither-sg-nor-nics": "UC4016",
    "batch/ce-node-role-wrong-policy": "UC4220",
    "batch/ce-sg-beside-nics": "UC3205",
    "batch/ce-userdata-not-mime": "UC4208",
    "batch/jd-no-priority-fairshare-queue": "UC6412",
    "batch/mnp-spot": "UC6308",
    "ec2/lt-multi-nic-public": "UC3202",
    "ec2/lt-two-efa-one-card": "UC4014",
    "fsx/fsx-sg-no-988": "UC5203",
}


def _kind(case: Path) -> str:
    return str(tomllib.loads((case / "case.toml").read_text("utf-8"))["kind"])


def codes(case: Path, name: str) -> set[str]:
    body, lines = read_yaml_template((case / name).read_text("utf-8"))
    report = check_templates([Source(name=name, body=body, region="us-east-2", lines=lines)])
    return {finding.code for finding in report.findings}


@pytest.mark.parametrize("name", FOUND)
def test_the_failure_of_a_case_is_found_and_its_correction_has_no_finding_of_the_rule(name: str) -> None:
    case = _PAIRS[name]

    assert FOUND[name] in codes(case, "template.yaml")
    assert FOUND[name] not in codes(case, "good.yaml")


def test_every_silent_failure_of_nodes_and_jobs_is_found() -> None:
    # Alarms, budgets and their topics are for others: docs/how-to/check-with-others.md.
    services = ("batch/", "ec2/", "fsx/")
    silent = {name for name, case in _PAIRS.items() if _kind(case) == "silent" and name.startswith(services)}

    assert silent
    assert silent <= FOUND.keys()


@pytest.mark.parametrize("case", _PAIRS.values(), ids=_PAIRS)
def test_a_corrected_template_breaks_no_rule_that_a_case_gave(case: Path) -> None:
    assert codes(case, "good.yaml").isdisjoint(FOUND.values())
