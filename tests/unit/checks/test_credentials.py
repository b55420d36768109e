"""Credentials in templates."""

from typing import Any

import pytest
from tests.unit.checks.edits import codes_after

from ultracluster_checks import Source, check_templates

BROKEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("UC6409", "block-nodes", {"Function/Environment/Variables/DB_PASSWORD": "correct horse"}),
    ("UC6409", "block-nodes", {"/Resources/Runs": {"Type": "AWS::RDS::DBInstance", "Properties": {"MasterUserPassword": "correct horse"}}}),
    ("UC6409", "block-nodes", {"/Resources/Build": {"Type": "AWS::CodeBuild::Project", "Properties": {"Environment": {"EnvironmentVariables": [{"Name": "GITHUB_TOKEN", "Value": "correct-horse"}]}}}}),
    ("UC6409", "block-nodes", {"/Resources/Head": {"Type": "AWS::EC2::Instance", "Properties": {"UserData": "#!/bin/sh\nexport AWS_SECRET_ACCESS_KEY=correct-horse\n"}}}),
)  # fmt: skip

KEPT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("block-nodes", {"/Resources/Head": {"Type": "AWS::EC2::Instance", "Properties": {"UserData": "#!/bin/sh\nexport DB_PASSWORD=$(aws ssm get-parameter --name db)\n"}}}),
    (
        "block-nodes",
        {"Function/Environment/Variables/DB_PASSWORD": "{{resolve:secretsmanager:db:SecretString:password}}"},
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("code", "base", "edits"), BROKEN, ids=lambda value: value if isinstance(value, str) else ""
)
def test_edit_breaks_the_rule(
    foreign: dict[str, Source], code: str, base: str, edits: dict[str, Any]
) -> None:
    assert code in codes_after(foreign, base, edits)


@pytest.mark.parametrize(("base", "edits"), KEPT, ids=str)
def test_edit_within_the_rules_breaks_none(
    foreign: dict[str, Source], base: str, edits: dict[str, Any]
) -> None:
    assert codes_after(foreign, base, edits) == []


def test_a_secret_as_text_is_found_and_a_generated_one_is_not() -> None:
    for properties, codes in (
        ({"SecretString": "hub-4711"}, ["UC6409"]),
        ({"SecretString": "PLACEHOLDER"}, []),
        ({"GenerateSecretString": {}}, []),
    ):
        body = {"Resources": {"Token": {"Type": "AWS::SecretsManager::Secret", "Properties": properties}}}
        report = check_templates([Source(name="secret", body=body)])
        assert [problem.finding.code for problem in report.problems] == codes
