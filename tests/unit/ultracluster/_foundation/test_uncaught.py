"""An app that ends with findings shows one line for each, and no traceback."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ultracluster import CapacityBlock, CapacityReservation, RolePath
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


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: CapacityBlock(reservatoin_id="cr-0123456789abcdef0"),  # type: ignore[call-arg]
            r"CapacityBlock\(\) got an unexpected keyword argument 'reservatoin_id'\. Allowed: .*\bstart\b.*\. Did you mean 'reservation_id'\?",
        ),
        (
            lambda: CapacityReservation(zone_id="use2-az3"),  # type: ignore[call-arg]
            r"CapacityReservation\(\) missing 1 required keyword-only argument: 'reservation_id'\.",
        ),
        (
            lambda: CapacityBlock("cr-0123456789abcdef0"),  # type: ignore[misc]
            r"CapacityBlock\(\) takes 1 positional argument but 2 were given\. Pass the others by name\.",
        ),
        (
            lambda: RolePath(paht="/ml/"),  # type: ignore[call-arg]
            r"RolePath\(\) got an unexpected keyword argument 'paht'\. Allowed: path\. Did you mean 'path'\?",
        ),
    ],
)
def test_a_call_with_arguments_that_it_does_not_take_is_one_line(
    capsys: pytest.CaptureFixture[str], call: Callable[[], object], said: str
) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    show_uncaught(caught.type, caught.value, caught.tb)
    (line,) = capsys.readouterr().err.splitlines()
    assert re.fullmatch(rf"error: tests/unit/\S+\.py:\d+: {said}", line)


def test_a_type_error_in_the_body_of_a_value_is_shown_as_python_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def build() -> None:
        raise TypeError("CapacityBlock.from_word() got an unexpected keyword argument 'x'")

    with pytest.raises(TypeError) as caught:
        build()
    show_uncaught(caught.type, caught.value, caught.tb)
    assert capsys.readouterr().err.startswith("Traceback")


def test_a_class_of_the_app_with_a_name_of_ours_is_not_taken_for_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Own:
        def __init__(self) -> None: ...

    Own.__init__.__qualname__ = "RolePath.__init__"
    monkeypatch.setitem(globals(), "RolePath", Own)
    with pytest.raises(TypeError) as caught:
        RolePath(paht="/ml/")  # type: ignore[call-arg]
    show_uncaught(caught.type, caught.value, caught.tb)
    assert capsys.readouterr().err.startswith("Traceback")


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
