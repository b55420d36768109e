"""`ultracluster preflight` with replaced checks, without AWS."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ultracluster_cli.exit_codes import ExitCode
from ultracluster_runtime.preflight.check import Outcome, failed, passed, skipped, warned

Answers = list[Outcome]


def test_prints_each_check_as_it_ends_and_a_table_of_problems(
    run: Callable[..., Any], asked: Mapping[str, Any], quickstart: Path
) -> None:
    asked["outcomes"][:] = [passed("good"), warned("so so", "look"), skipped("none")]
    outcome = run("preflight", str(quickstart), "--skip", "UC9406", "--qualifier", "ours")
    assert outcome.code == 0
    assert outcome.stderr.splitlines() == [
        "PASS UC9401 us-east-2: good",
        "WARN UC9402 us-east-2: so so",
        "1 PASS, 1 WARN, 0 FAIL, 1 SKIP; 0 read-only API calls",
    ]
    assert "look" in outcome.stdout
    assert "good" not in outcome.stdout
    assert (asked["clusters"], asked["skip"], asked["qualifier"]) == (["quickstart"], {"UC9406"}, "ours")


def test_the_ledger_is_that_of_the_project(
    run: Callable[..., Any],
    asked: Mapping[str, Any],
    quickstart: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cdk.json").write_text('{"context": {"ledger": {"table": "orders", "region": "us-east-2"}}}')
    assert run("preflight", str(quickstart)).code == 0
    assert asked["ledger"] == ("orders", "us-east-2")


def test_a_failed_check_exits_with_4_and_json_has_all_results(
    run: Callable[..., Any], asked: Mapping[str, Any], quickstart: Path
) -> None:
    asked["outcomes"][:] = [passed("good"), failed("bad", "mend")]
    outcome = run("preflight", str(quickstart), "--json")
    assert outcome.code == ExitCode.FAILED
    shown = json.loads(outcome.stdout)
    assert shown["passed"] is False
    assert shown["calls"] == {}
    assert shown["results"][1] == {
        "code": "UC9402",
        "status": "FAIL",
        "subject": "us-east-2",
        "title": "The clusters belong to the account of the credentials.",
        "evidence": "bad",
        "remedy": "mend",
        "live_tests": [],
    }
