"""The rules for CloudFormation Guard: each names a code, breaks where our own rule does, and passes what is good."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.golden.kept import read_kept
from tests.unit.checks.defects import DEFECTS
from tests.unit.checks.judges import good_templates, guard_codes, said_of
from tests.unit.checks.test_defects import KEPT

from ultracluster_checks import guard_rules
from ultracluster_checks.table import CODES

# Of every kind of stack one; the Python rules look at all of them.
SOME_KEPT = [
    path
    for path in KEPT
    if path.stem in {"capacity-ledger.py", "jobs.yaml", "quickstart.yaml", "watched.yaml"}
]
NAMES = re.findall(r"^rule (\w+)", guard_rules(), re.MULTILINE)


def test_each_rule_names_a_code_of_the_check() -> None:
    assert len(NAMES) == len(set(NAMES)) > 30
    assert {name[:6] for name in NAMES} <= CODES
    assert set(re.findall(r"<<(UC\d{4})", guard_rules())) == {name[:6] for name in NAMES}


# What no seeded defect breaks.
FURTHER: dict[str, dict[str, Any]] = {
    "UC3203_interfaces_go_with_their_node": {
        "Type": "AWS::EC2::LaunchTemplate",
        "Properties": {"LaunchTemplateData": {"NetworkInterfaces": [{"DeleteOnTermination": False}]}},
    },
    "UC4210_nothing_is_reserved": {"Type": "AWS::EC2::CapacityReservation"},
    "UC6107_images_stay_the_same": {
        "Type": "AWS::Batch::JobDefinition",
        "Properties": {"ContainerProperties": {"Image": "train:latest"}},
    },
    "UC6420_policies_allow_actions_by_name": {
        "Type": "AWS::IAM::Policy",
        "Properties": {
            "PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
        },
    },
    "UC6425_policies_do_not_buy": {
        "Type": "AWS::IAM::ManagedPolicy",
        "Properties": {
            "PolicyDocument": {"Statement": [{"Effect": "Allow", "Action": ["ec2:PurchaseCapacityBlock"]}]}
        },
    },
}


def test_each_rule_is_broken_by_something() -> None:
    codes = {name[:6] for name in NAMES}
    near = [each.name for each in DEFECTS if codes & {code for code, _ in said_of(each.name, "our rules")}]
    broken = {name for defect in near for name, _ in said_of(defect, "Guard rules")}

    assert broken | FURTHER.keys() == set(NAMES)


@pytest.mark.parametrize("name", FURTHER)
def test_a_template_breaks_the_rule(name: str) -> None:
    assert name in guard_codes({"Resources": {"It": FURTHER[name]}})


@pytest.mark.parametrize("path", SOME_KEPT, ids=lambda path: path.stem)
def test_our_own_configurations_break_nothing(path: Path) -> None:
    kept = read_kept(path.read_text(encoding="utf-8"))

    assert set().union(*(guard_codes(dict(each.template)) for each in kept)) == set()


@pytest.mark.parametrize("name", ["batch-efa", "block-nodes", "lustre-data"])
def test_a_good_template_of_other_people_breaks_nothing(name: str) -> None:
    ((source,), _) = good_templates(name)

    assert guard_codes(dict(source.body)) == set()
