"""A report is one line of the first process, in the format of the metric filters."""

import json

import pytest

from ultracluster_runtime.bake_off import report


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UC_CANDIDATE", "RANK", "JAX_PROCESS_ID", "NODE_RANK"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "rank", [{}, {"RANK": "0", "NODE_RANK": "1"}, {"JAX_PROCESS_ID": "0"}, {"NODE_RANK": "0"}]
)
def test_first_process_prints_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rank: dict[str, str]
) -> None:
    for name, value in {"UC_CANDIDATE": "App/BakeOff/trn2", **rank}.items():
        monkeypatch.setenv(name, value)
    report(tokens_per_second=12, loss=0.5)
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == {"candidate": "App/BakeOff/trn2", "tokens_per_second": 12.0, "loss": 0.5}


@pytest.mark.parametrize(
    "variables", [{}, {"UC_CANDIDATE": "x", "RANK": "3"}, {"UC_CANDIDATE": "x", "JAX_PROCESS_ID": "1"}]
)
def test_other_processes_print_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    report(loss=1.0)
    assert capsys.readouterr().out == ""
