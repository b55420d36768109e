"""`ultracluster validate` on templates and cloud assemblies."""

import json
from pathlib import Path

import pytest

from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.main import main

FOREIGN = Path(__file__).parents[1] / "checks" / "foreign"


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
    assert main(["validate", *map(str, sorted(FOREIGN.glob("*.yaml"))), "--region", "us-east-2"]) == 0
    assert capsys.readouterr().err == "3 templates: no errors\n"


def test_an_error_ends_with_2_and_shows_file_and_line(
    template: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", str(template)]) == ExitCode.FINDINGS
    warning, error = capsys.readouterr().err.splitlines()
    assert warning.startswith(f"warning: UC5210: {template}:6: ")
    assert error.startswith(f"UC5201: {template}:5: Checkpoints.UpdateReplacePolicy: ")


def test_a_rule_is_skipped_with_a_reason(template: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(template), "--skip", "UC5201=objects are made anew each day"]) == 0
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
    assert main(["validate", str(template), *options]) == ExitCode.FINDINGS
    assert capsys.readouterr().err.startswith(code)


def test_json_has_findings_and_skipped_rules(template: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["validate", str(template), "--json", "--skip", "UC5210=tests only"]
    assert main(arguments) == ExitCode.FINDINGS
    told = json.loads(capsys.readouterr().out)

    assert [(each["code"], each["severity"], each["logical_id"]) for each in told["findings"]] == [
        ("UC5201", "error", "Checkpoints")
    ]
    assert told["findings"][0]["location"] == f"{template}:5"
    assert [(each["code"], each["reason"]) for each in told["left_out"]] == [("UC5210", "tests only")]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["{template}", "--explain"], "--explain and --cluster are for rollout files"),
        (["{template}", "--cluster", "a"], "--explain and --cluster are for rollout files"),
        (["{rollout}", "--region", "us-east-2"], "--region and --skip are for templates"),
        (["{rollout}", "--skip", "UC5201=made anew"], "--region and --skip are for templates"),
        (["{rollout}", "{rollout}"], "specify one rollout file, or templates"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(
    template: Path, quickstart: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    words = [word.format(template=template, rollout=quickstart) for word in arguments]
    assert main(["validate", *words]) == ExitCode.FINDINGS
    assert problem in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_a_folder_is_a_cloud_assembly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(tmp_path)]) == ExitCode.FINDINGS
    assert capsys.readouterr().err.startswith("UC9510: ")


def test_a_rollout_among_templates_is_named(
    template: Path, quickstart: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", str(template), str(quickstart)]) == ExitCode.FINDINGS
    error = capsys.readouterr().err
    assert error.startswith("UC9508: ")
    assert str(quickstart) in error
