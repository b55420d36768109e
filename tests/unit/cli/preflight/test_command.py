"""`ultracluster preflight` with replaced checks, without AWS."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.preflight import run as preflight_run
from ultracluster_cli.preflight.requirements import rollout_requirements
from ultracluster_runtime.preflight.check import Outcome, failed, passed, skipped, warned
from ultracluster_runtime.preflight.requirements import RolloutRequirements
from ultracluster_runtime.preflight.run import CheckResult
from ultracluster_stacks.config import load_rollout

Answers = list[Outcome]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the checks were asked for; each outcome under `outcomes` is told as one check's."""
    record: dict[str, Any] = {"outcomes": [passed("good")]}

    def run_checks(
        needs: RolloutRequirements, _: object, *, skip: set[str], on_result: Callable[[CheckResult], None]
    ) -> list[CheckResult]:
        record["clusters"] = [cluster.name for cluster in needs.clusters]
        record["skip"] = skip
        record["qualifier"] = needs.qualifier
        results = [
            CheckResult(code=f"UC940{index}", title="A title.", key=("us-east-2",), outcome=outcome)
            for index, outcome in enumerate(record["outcomes"], start=1)
        ]
        for result in results:
            on_result(result)
        return results

    monkeypatch.setattr(preflight_run, "run_checks", run_checks)
    return record


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
        "title": "A title.",
        "evidence": "bad",
        "remedy": "mend",
    }


def test_takes_the_clusters_that_are_named(
    run: Callable[..., Any], asked: Mapping[str, Any], quickstart: Path
) -> None:
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
        (["--skip", "UC4001", "--skip", "UC9406", "--skip", "x"], ["UC9455", "UC9455"]),
        (["--skip", "UC9455"], ["UC9455"]),
        (["--cluster", "nobody"], ["UC2201"]),
        (["--wave", "nobody"], ["UC9008"]),
        (["--profile", "nobody"], ["UC9009"]),
    ],
)
def test_rejects_unknown_names_before_any_request(
    run: Callable[..., Any],
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
    run: Callable[..., Any], asked: Mapping[str, Any], tmp_path: Path, quickstart: Path
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


def needs_of(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "rollout.yaml"
    path.write_text(text)
    loaded = load_rollout(path)
    return rollout_requirements(
        [c for wave in loaded.config.waves for c in wave.clusters], qualifier="q"
    ).clusters[0]


def test_derives_the_requirements_of_the_quick_start(quickstart: Path) -> None:
    (cluster,) = rollout_requirements(
        load_rollout(quickstart).config.waves[0].clusters, qualifier="q"
    ).clusters
    (source,) = cluster.sources
    assert (source.block_quota, source.all_vcpus) == ("L-64569A79", 768)
    # Four nodes with 16 interfaces and one of a task, nine endpoints, and room for a growing file system.
    assert cluster.interfaces == 4 * 17 + 9 + 128
    assert (cluster.storage_quota, cluster.storage_gib) == ("L-8F1B9C74", 4_800)
    assert (cluster.compute_environments, cluster.queues, cluster.new_vpc) == (1, 1, True)
    assert cluster.stacks[0] == "quickstart-us-east-2-Network"


def test_precompile_jobs_need_a_small_node_with_a_separate_queue_and_environment(quickstart: Path) -> None:
    jobs = load_rollout(quickstart.with_name("jobs.yaml")).config.waves[0].clusters
    cluster = rollout_requirements(jobs, qualifier="q").clusters[0]
    assert {one.market_type for one in cluster.compilers} == {"on-demand"}
    assert {one.nodes for one in cluster.compilers} == {1}
    assert cluster.compute_environments == len(cluster.sources) + len(cluster.compilers)


def test_knows_which_buckets_are_joined_with_the_file_system(tmp_path: Path) -> None:
    cluster = needs_of(
        tmp_path,
        """\
version: 1
waves:
  - name: first
    clusters:
      - name: train
        region: us-east-2
        zone_id: use2-az3
        instance_type: trn2.48xlarge
        nodes: 1
        image_id: ami-0123456789abcdef0
        capacity: {reservation_id: cr-0123456789abcdef0}
        checkpoints: {bucket_name: our-checkpoints}
        datasets:
          - {name: text, bucket_name: our-text}
          - {name: code, bucket_name: our-code, file_system_path: /code}
        file_system: {link_checkpoints: false}
""",
    )
    joined = {bucket.name: bucket.joined for bucket in cluster.buckets}
    assert joined == {"our-checkpoints": False, "our-text": False, "our-code": True}
