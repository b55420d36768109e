"""`ultracluster check` on files."""

import json
from pathlib import Path

import pytest

from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.main import main

FOREIGN = Path(__file__).parents[2] / "checks" / "foreign"


@pytest.fixture
def template(tmp_path: Path) -> Path:
    path = tmp_path / "it.yaml"
    path.write_text(
        "Resources:\n"
        "  Checkpoints:\n"
        "    Type: AWS::S3::Bucket\n"
        "    DeletionPolicy: Retain\n"
        "    UpdateReplacePolicy: Delete\n"
        "    Properties: {LifecycleConfiguration: {Rules: [{Status: Enabled, ExpirationInDays: 30}]}}\n"
    )
    return path


def test_a_good_template_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *map(str, sorted(FOREIGN.glob("*.yaml"))), "--region", "us-east-2"]) == 0
    assert capsys.readouterr().err == "3 templates: no errors\n"


def test_an_error_ends_with_2_and_shows_file_and_line(
    template: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(template)]) == ExitCode.FINDINGS
    warning, error = capsys.readouterr().err.splitlines()
    assert warning.startswith(f"warning: UC5210: {template}:6: ")
    assert error.startswith(f"UC5201: {template}:5: Checkpoints.UpdateReplacePolicy: ")


def test_a_rule_is_skipped_with_a_reason(template: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(template), "--skip", "UC5201=objects are made anew each day"]) == 0
    assert "skipped: UC5201" in (told := capsys.readouterr().err)
    assert "Reason: objects are made anew each day" in told


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--skip", "UC5201"], "UC9509"),
        (["--skip", "UC6425=because"], "UC9509"),
        (["--region", "us-east-9"], "UC2102"),
    ],
)
def test_wrong_options_end_with_2(
    template: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: str
) -> None:
    assert main(["check", str(template), *options]) == ExitCode.FINDINGS
    assert capsys.readouterr().err.startswith(code)


def test_json_has_findings_and_skipped_rules(template: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", str(template), "--json", "--skip", "UC5210=tests only"]
    assert main(arguments) == ExitCode.FINDINGS
    told = json.loads(capsys.readouterr().out)

    assert [(each["code"], each["severity"], each["logical_id"]) for each in told["findings"]] == [
        ("UC5201", "error", "Checkpoints")
    ]
    assert told["findings"][0]["location"] == f"{template}:5"
    assert [(each["code"], each["reason"]) for each in told["left_out"]] == [("UC5210", "tests only")]
