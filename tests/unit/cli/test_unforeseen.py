"""Errors that no command foresees are lines with a code."""

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from botocore.parsers import ResponseParserError

from ultracluster_cli.unforeseen import finding_of

ROOT = Path(__file__).parents[3]


def raised(error: Exception) -> Exception:
    with pytest.raises(type(error)) as caught:
        raise error
    return caught.value


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "a\x1b[31m"),
            r"error: a\x1b[31m: No space left on device.",
        ),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), "error: input or output: Broken pipe."),
        (
            EndpointConnectionError(endpoint_url="https://x"),
            'error: Could not connect to the endpoint URL: "https://x".',
        ),
        (
            ClientError({"Error": {"Code": "AccessDenied", "Message": "no\nway"}}, "Get"),
            "error: An error occurred (AccessDenied)",
        ),
        (ResponseParserError("<html>"), "error: <html>. Check credentials, Region, endpoint"),
        (KeyError("jobs"), "error: a bug in ultracluster: KeyError: 'jobs' (test_unforeseen.py:"),
    ],
)
def test_errors_are_findings(error: Exception, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    finding = str(finding_of(raised(error)))

    assert finding.startswith(line)
    assert "\n" not in finding
    assert capsys.readouterr().err == ""


def test_the_traceback_of_a_bug_is_in_the_file_that_the_line_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    finding = str(finding_of(raised(KeyError("jobs\udc80"))))

    (kept,) = tmp_path.iterdir()
    assert f"Report it with {kept}, which has the traceback" in finding
    assert kept.read_text().startswith("Traceback (most recent call last):")
    assert kept.stat().st_mode & 0o077 == 0

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    assert str(finding_of(raised(KeyError("jobs")))).endswith(" Report it.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("redirection", "code"),
    [
        (">/dev/full", 4),
        (">&-", 0),
        ("2>&-", 0),
        (">&- 2>&-", 0),
        (">/dev/full 2>/dev/full", 4),
        ("| true", 0),  # a reader that has seen enough, such as head
    ],
)
def test_streams_that_cannot_be_written_end_a_command_with_a_code(redirection: str, code: int) -> None:
    # Enough text for a pipe whose reader has gone.
    command = f"set -o pipefail; {sys.executable} -m ultracluster_cli docs rules {redirection}"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TERM": "dumb"},
        cwd=ROOT,
    )

    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
