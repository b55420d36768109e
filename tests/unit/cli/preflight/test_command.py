"""`ultracluster preflight` checks the account of each cluster, with replaced checks, without AWS."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import Run

from ultracluster_cli.exit_codes import ExitCode
from ultracluster_runtime.preflight.check import failed, passed, skipped, warned
from ultracluster_stacks.config import load_rollout


def test_prints_each_check_as_it_ends_and_a_table_of_problems(
    run: Run, asked: Mapping[str, Any], quickstart: Path
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
    run: Run,
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
    run: Run, asked: Mapping[str, Any], quickstart: Path
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


def test_takes_the_clusters_that_are_named(run: Run, asked: Mapping[str, Any], quickstart: Path) -> None:
    waves = quickstart.with_name("two-waves.yaml")
    everything = [c.name for wave in load_rollout(waves).config.waves for c in wave.clusters]
    first = load_rollout(waves).config.waves[0]
    assert run("preflight", str(waves)).code == 0
    assert asked["clusters"] == everything
    assert run("preflight", str(waves), "--wave", first.name).code == 0
    assert asked["clusters"] == [cluster.name for cluster in first.clusters]
    assert run("preflight", str(waves), "--cluster", everything[-1]).code == 0
    assert asked["clusters"] == everything[-1:]


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        (["--skip", "UC4001", "--skip", "UC9406", "--skip", "x"], ["error", "error"]),
        (["--skip", "UC9999"], ["error"]),
        (["--cluster", "nobody"], ["error"]),
        (["--wave", "nobody"], ["error"]),
        (["--profile", "nobody"], ["UC9009"]),
    ],
)
def test_rejects_unknown_names_before_any_request(
    run: Run,
    asked: Mapping[str, Any],
    quickstart: Path,
    options: list[str],
    codes: list[str],
) -> None:
    outcome = run("preflight", str(quickstart), *options)
    assert outcome.code == 2
    assert [line.partition(":")[0] for line in outcome.stderr.splitlines()] == codes
    assert "clusters" not in asked


def test_each_account_is_checked_with_its_profile(
    run: Run, asked: Mapping[str, Any], tmp_path: Path, quickstart: Path
) -> None:
    text = quickstart.with_name("two-waves.yaml").read_text()
    rollout = tmp_path / "rollout.yaml"
    rollout.write_text(
        text.replace(
            "- name: pretrain\n        region", "- name: pretrain\n        profile: nobody\n        region"
        )
    )

    of_file = run("preflight", str(rollout))
    assert of_file.code == 2
    assert "UC9009" in of_file.stderr
    assert asked["clusters"] == ["canary", "finetune"]
    assert run("preflight", str(rollout), "--cluster", "canary").code == 0
