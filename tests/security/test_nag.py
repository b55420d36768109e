"""cdk-nag finds nothing in what we make that has no answer, and every answer is a narrow one."""

import re
from pathlib import Path

import aws_cdk as cdk
import cdk_nag
import pytest
from aws_cdk import aws_iam as iam
from tests.security.everything import define_everything
from tests.security.nag import Nagged, nagged
from tests.unit.ultracluster.builders import block, nodes

from ultracluster.compliance.nag_acknowledgments import ACKNOWLEDGMENTS, WILDCARDS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

# The role of the app itself, to which `SageMakerTrainingQueue.grant_submit` adds: its owner answers for it.
NOT_OURS = "Others/Submitters/DefaultPolicy/Resource"

REASONS = {
    *(why for paths in ACKNOWLEDGMENTS.values() for rules in paths.values() for why in rules.values()),
    *(why for paths in WILDCARDS.values() for sids in paths.values() for why in sids.values()),
}


def test_every_finding_is_answered(everything: Nagged) -> None:
    assert len(everything.answered) > 100
    assert {rule.partition("-")[0] for rule, _ in everything.answered} == {"AwsSolutions", "Serverless"}
    assert {path for _, path in everything.unanswered} == {NOT_OURS}


def test_every_answer_is_for_one_finding_at_its_own_resource(everything: Nagged) -> None:
    for (rule, path), (answer, at, _) in everything.answered.items():
        assert answer == f"{rule.partition('-')[0]}::{rule}"
        assert at == path


def test_no_acknowledgment_lacks_a_finding_or_its_pack(everything: Nagged) -> None:
    # An answer whose id lacks the pack silences, and is in no report.
    assert everything.given == {(at, answer) for answer, at, _ in everything.answered.values()}


def test_every_reason_is_used_and_not_empty(everything: Nagged) -> None:
    said = [reason for _, _, reason in everything.answered.values()]
    assert [reason for reason in REASONS if not any(reason in each for each in said)] == []
    assert [reason for reason in REASONS if len(reason.split()) < 4 or not reason.endswith(".")] == []


def test_what_a_user_adds_to_our_role_is_not_answered(tmp_path: Path) -> None:
    def define(app: cdk.App) -> None:
        stack = cdk.Stack(app, "Test", env=cdk.Environment(region="us-east-2"))
        role = nodes(stack, capacity=block()).role
        for action, resource in (("s3:ListAllMyBuckets", "*"), ("s3:GetObject", "arn:aws:s3:::theirs/*")):
            role.add_to_principal_policy(iam.PolicyStatement(actions=[action], resources=[resource]))

    seen = nagged(tmp_path, define)
    policy = "Test/Nodes/Role/DefaultPolicy/Resource"
    assert ("AwsSolutions-IAM5[Resource::*]", policy) in seen.unanswered
    assert {rule for rule, path in seen.unanswered if path == policy} == {
        "AwsSolutions-IAM5[Resource::*]",
        "AwsSolutions-IAM5[Resource::arn:aws:s3:::theirs/*]",
    }


def test_every_failing_rule_of_the_compliance_packs_has_a_row(tmp_path: Path) -> None:
    packs = (cdk_nag.NIST80053R5Checks, cdk_nag.HIPAASecurityChecks, cdk_nag.PCIDSS321Checks)
    seen = nagged(
        tmp_path / "assembly",
        lambda app: define_everything(app, directory=tmp_path),
        packs=packs,
    )
    rules = {rule.partition("[")[0].rpartition("-")[2] for rule, _ in seen.unanswered}
    section = (
        (ROOT / "docs/reference/security.md")
        .read_text()
        .partition("## Compliance packs")[2]
        .partition("\n## ")[0]
    )
    rows = re.findall(r"^\| (\w+) \|", section, re.MULTILINE)

    assert len(rules) == 15
    assert sorted(rows) == sorted(rules)


def test_the_page_names_every_rule_and_only_files_that_exist() -> None:
    page = (ROOT / "docs" / "reference" / "security.md").read_text()
    rules = {
        rule.partition("[")[0].rpartition("-")[2]
        for paths in ACKNOWLEDGMENTS.values()
        for rules in paths.values()
        for rule in rules
    }
    assert {rule for rule in rules | {"IAM5"} if rule not in page} == set()
    named = re.findall(r"(?:tests|constructs)/[\w/]+(?:\.py)?", page)
    assert len(named) > 5
    assert [name for name in named if not (ROOT / name).exists()] == []
