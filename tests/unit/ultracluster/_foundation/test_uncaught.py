"""An app that ends with findings shows one line for each, and no traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

from ultracluster._foundation.uncaught import show_uncaught
from ultracluster_spec.findings import Finding, FindingsError


def shown(capsys: pytest.CaptureFixture[str], error: Exception) -> list[str]:
    with pytest.raises(type(error)) as caught:
        raise error
    show_uncaught(caught.type, caught.value, caught.tb)
    return capsys.readouterr().err.splitlines()


def test_each_finding_is_a_line_with_that_of_the_app_and_the_construct(
    capsys: pytest.CaptureFixture[str],
) -> None:
    findings = [Finding("UC1030", "got 1", path="steps", location="App/Job"), Finding("UC1032", "got 2")]
    first, second = shown(capsys, FindingsError(findings))
    assert first.startswith("UC1030: tests/unit/ultracluster/_foundation/test_uncaught.py:")
    assert first.endswith(": App/Job: steps: got 1.")
    assert second.endswith(": got 2.")


def test_other_exceptions_are_shown_as_python_does(capsys: pytest.CaptureFixture[str]) -> None:
    first, *_, last = shown(capsys, ValueError("other"))
    assert (first, last) == ("Traceback (most recent call last):", "ValueError: other")


@pytest.mark.slow
def test_an_app_ends_with_a_line_for_each_finding(tmp_path: Path) -> None:
    app = tmp_path / "app.py"
    app.write_text(
        "import aws_cdk as cdk\nfrom ultracluster import ClusterKey\n"
        "stack = cdk.Stack(cdk.App(), 'Training')\nClusterKey(stack, 'Key', removal_policy='destroy')\n"
    )
    done = subprocess.run(
        [sys.executable, str(app)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[0].startswith(
        "UC1032: app.py:4: Training/Key: removal_policy: got 'destroy'"
    )
    assert len(done.stderr.splitlines()) == 1
