"""Metrics are read from a recording or from CloudWatch."""

from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run


def test_reports_errors_of_cloudwatch(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    arguments = (
        "dashboard",
        "--cluster",
        "a",
        "--region",
        "us-east-2",
        "--picture",
        str(tmp_path / "page.html"),
    )
    outcome, named = run(*arguments), run(*arguments, "--profile", "nobody")
    assert (outcome.code, "cloudwatch:ListMetrics" in outcome.stderr) == (2, True)
    assert (named.code, "UC9009" in named.stderr) == (2, True)
