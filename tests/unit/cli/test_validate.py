"""`ultracluster validate` shows a rollout and where its values come from, or all errors in it."""

import json
import os
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run

from ultracluster_cli.validate import is_template


def test_a_valid_rollout_is_shown_as_a_table(run: Run, quickstart: Path) -> None:
    outcome = run("validate", str(quickstart))

    assert outcome.code == 0
    assert "quickstart" in outcome.stdout
    assert "trn2.48xlarge" in outcome.stdout
    assert "cr-0123456789abcdef0" in outcome.stdout


def test_clusters_can_be_selected(run: Run, quickstart: Path) -> None:
    rollout = str(quickstart.with_name("two-waves.yaml"))

    told = json.loads(run("validate", rollout, "--cluster", "canary", "--json").stdout)
    unknown = run("validate", rollout, "--cluster", "canray")

    assert [cluster["cluster"] for cluster in told["clusters"]] == ["canary"]
    assert (unknown.code, unknown.stdout) == (2, "")
    assert unknown.stderr.startswith("error: ")


def test_without_a_file_the_one_of_cdk_json_is_validated(
    run: Run, quickstart: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cdk.json").write_text(json.dumps({"context": {"rollout": str(quickstart)}}))
    monkeypatch.chdir(tmp_path)

    assert run("validate").stdout == run("validate", str(quickstart)).stdout


def test_json_has_stable_keys(run: Run, quickstart: Path) -> None:
    told = json.loads(run("validate", str(quickstart), "--json").stdout)

    assert list(told) == ["clusters", "warnings", "suppressed"]
    (cluster,) = told["clusters"]
    assert list(cluster) == [
        "wave",
        "cluster",
        "region",
        "zone_id",
        "instance_type",
        "nodes",
        "market_type",
        "reservation_id",
        "jobs",
        "file_system",
        "network",
    ]
    assert cluster["nodes"] == 4
    assert cluster["market_type"] == "capacity-block"


def test_shows_interfaces_and_addresses_of_nodes(run: Run, quickstart: Path) -> None:
    (cluster,) = json.loads(run("validate", str(quickstart), "--json").stdout)["clusters"]
    assert cluster["network"] == {
        "interfaces": 16,
        "efa_interfaces": 16,
        "card_0_taken": 1,
        "card_0_slots": 2,
        "addresses_per_node": 1,
        # 4 nodes with a task each, 9 endpoints, 128 for the file system, 5 of AWS.
        "addresses_needed": 150,
        "addresses_free": None,
    }
    table = " ".join(run("validate", str(quickstart)).stdout.split())
    assert "1 of 2, plus 1 for a task" in table


def test_compares_with_the_free_addresses_of_an_existing_subnet(
    run: Run, quickstart: Path, tmp_path: Path
) -> None:
    line = "        image_id:"
    network = "{vpc_id: vpc-0123456789abcdef0, subnet_id: subnet-0123456789abcdef0, available_addresses: 136}"
    rollout = tmp_path / "rollout.yaml"
    rollout.write_text(quickstart.read_text().replace(line, f"        network: {network}\n{line}", 1))
    (cluster,) = json.loads(run("validate", str(rollout), "--json").stdout)["clusters"]
    assert (cluster["network"]["addresses_needed"], cluster["network"]["addresses_free"]) == (136, 136)
    assert "136 of 136 free" in " ".join(run("validate", str(rollout)).stdout.split())


def test_shows_performance_and_cost_of_the_file_system(run: Run, quickstart: Path) -> None:
    (cluster,) = json.loads(run("validate", str(quickstart), "--json").stdout)["clusters"]
    assert cluster["file_system"] == {
        "deployment_type": "PERSISTENT_2",
        "storage_type": "SSD",
        "storage_gib": 4800,
        "object_servers": 2,
        "addresses": 3,
        "baseline_mb_per_s": 1200,
        "write_mb_per_s": 1200,
        "node_gbps": 10,
        "node_mb_per_s": 300,
        "usd_per_month": 1008,
        "price": "AWS pricing pages, as kept by lamngockhuong/aws-price, 2025-10-16",
        "not_priced": [],
    }
    table = " ".join(run("validate", str(quickstart)).stdout.split())
    assert "PERSISTENT_2 SSD, 4,800 GiB" in table
    assert "1,008.00 (AWS pricing pages" in table


def test_every_error_is_shown_with_its_line_and_nothing_else(
    run: Run, quickstart: Path, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(
        quickstart.read_text()
        .replace("nodes: 4 # the", "nodes: 0 # the")
        .replace("us-east-2\n", "us-esat-2\n")
    )

    outcome = run("validate", str(wrong))

    lines = outcome.stderr.splitlines()
    assert outcome.code == 2
    assert outcome.stdout == ""
    assert len(lines) >= 2
    assert all(line.startswith("UC") and "wrong.yaml:" in line for line in lines)


def test_a_missing_file_is_a_finding(run: Run, tmp_path: Path) -> None:
    outcome = run("validate", str(tmp_path / "none.yaml"))

    assert outcome.code == 2
    assert outcome.stderr.startswith("UC1")


def test_a_warning_is_shown_and_the_command_succeeds(run: Run, quickstart: Path, tmp_path: Path) -> None:
    warned = tmp_path / "warned.yaml"
    warned.write_text(quickstart.read_text().replace("training:2026-11-20", "training:latest"))

    outcome = run("validate", str(warned), "--json")

    assert outcome.code == 0
    assert "warning: UC6107" in outcome.stderr
    assert any("UC6107" in line for line in json.loads(outcome.stdout)["warnings"])


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("Resources: {}", True),
        ("---\n# ours\nAWSTemplateFormatVersion: '2010-09-09'\n", True),
        ("\ufeff'Resources' :\n", True),
        ('\n {"Description": "", "Resources": {}}', True),
        ('{\n\t"Resources": {', True),  # broken, but clearly meant as one
        ("{Resources: {}}", True),
        ("Parameters: {}\nResources:\n  A:\n    waves: 1\n", True),
        ("Resources: {}\n" + "#" * 2_000_000, True),
        ("version: 1\nwaves: []\n", False),
        ("waves:\n  - clusters: [{tags: {Resources: all}}]\n", False),
        ("version: 1\ndefaults:\n  tags:\n    Resources: all\n", False),
        ('{"waves": [{"clusters": [{"tags": {"Resources": "all"}}]}]}', False),
        ("waves: []\nResources: {}\n", False),
        ("", False),
        ("# Resources: {}", False),
        (b"\xff\xfeR", False),
    ],
)
def test_a_template_is_known_by_its_content(tmp_path: Path, text: str | bytes, template: bool) -> None:
    path = tmp_path / "rollout.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())

    assert is_template(path) is template


def test_a_folder_is_read_as_an_assembly_and_what_is_no_file_is_left_to_the_other_reader(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert is_template(tmp_path)
    assert not any(map(is_template, (tmp_path / "pipe", tmp_path / "absent", Path("/dev/zero"))))


TWO_WAVES = Path(__file__).parents[3] / "stacks" / "rollouts" / "two-waves.yaml"


def test_shows_where_a_value_comes_from(run: Run) -> None:
    outcome = run("validate", str(TWO_WAVES), "--explain", "--cluster", "pretrain")

    assert outcome.code == 0
    shown = {line.split()[0]: line for line in outcome.stdout.splitlines()}
    assert "9600" in shown["file_system.storage_capacity_gib"]
    assert "cluster" in shown["file_system.storage_capacity_gib"]
    assert "defaults" in shown["tags.team"]
    assert "two-waves.yaml:" in shown["tags.team"]
    assert "built in" in shown["network.nat_gateway"]
    assert "the account of the credentials" in shown["account"]
    assert "pretrain in us-east-2, wave production" in outcome.stdout


def test_json_has_all_clusters_unless_one_is_named(run: Run) -> None:
    told = json.loads(run("validate", str(TWO_WAVES), "--explain", "--json").stdout)
    one = json.loads(run("validate", str(TWO_WAVES), "--explain", "--cluster", "canary", "--json").stdout)

    assert [cluster["name"] for cluster in told["clusters"]] == ["canary", "pretrain", "finetune"]
    assert [cluster["name"] for cluster in one["clusters"]] == ["canary"]
    assert set(one["clusters"][0]["values"][0]) == {"path", "value", "given_by", "location", "note"}


def test_refuses_a_cluster_that_is_not_there(run: Run) -> None:
    outcome = run("validate", str(TWO_WAVES), "--explain", "--cluster", "pretrian")

    assert outcome.code == 2
    assert outcome.stderr.endswith("unknown cluster 'pretrian'. Allowed: canary, pretrain, finetune.\n")
    assert "canary, pretrain, finetune" in outcome.stderr
