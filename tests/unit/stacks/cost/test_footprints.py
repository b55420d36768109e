"""The footprint of a configuration is the one of the templates that it becomes."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stacks.conftest import synthesized_templates

from ultracluster_catalog.observability.metrics import METRICS
from ultracluster_stacks.config import ClusterConfig, load_rollout
from ultracluster_stacks.cost import Footprint, configured_footprint, planned_hours, template_footprint
from ultracluster_stacks.plan import StackTemplate

ROLLOUTS = Path(__file__).parents[4] / "stacks" / "rollouts"

RICH = """
version: 1
waves:
  - name: first
    clusters:
      - name: rich
        region: us-east-2
        zone_id: use2-az3
        instance_type: trn1.32xlarge
        nodes: 2
        image_id: ami-0123456789abcdef0
        capacity:
          reservation_id: cr-0123456789abcdef4
          start: "2026-12-01T11:30:00Z"
          end: "2026-12-03T11:30:00Z"
        additional_capacity:
          - {name: overflow, market_type: on-demand, max_nodes: 1}
          - {name: cheap, market_type: spot}
        network: {nat_gateway: true}
        compile_cache: {request_metrics: true}
        file_system: {storage_capacity_gib: 2400, per_unit_storage_throughput: 125, metadata_iops: 12000}
        datasets: [{name: text}]
        alarms: {emails: [jane@example.com]}
        budget: {monthly_usd: 1000, close_queues_at_percent: 100}
"""


def clusters(path: Path) -> list[ClusterConfig]:
    return load_rollout(path).config.clusters()


@pytest.mark.synth
@pytest.mark.parametrize("rollout", ["quickstart", "rich"])
def test_a_configuration_and_its_templates_have_the_same_footprint(
    rollout: str, tmp_path: Path, templates: dict[str, dict[str, Any]], synthesize: Callable[..., Any]
) -> None:
    path = ROLLOUTS / "quickstart.yaml"
    found = templates
    if rollout == "rich":
        path = tmp_path / "rich.yaml"
        path.write_text(RICH)
        found = synthesized(path, tmp_path / "cdk.out", synthesize)
    (cluster,) = clusters(path)
    stacks = [
        StackTemplate(cluster=cluster.name, name=name, region=cluster.region, template=template)
        for name, template in found.items()
    ]

    shown = template_footprint(cluster.name, stacks)

    expected = configured_footprint(cluster)
    assert comparable(shown) == comparable(expected)
    assert shown.buckets >= 2


def synthesized(path: Path, directory: Path, synthesize: Callable[..., Any]) -> dict[str, dict[str, Any]]:
    done = synthesize(path, directory)
    assert done.returncode == 0, done.stderr
    return {str(index): template for index, template in enumerate(synthesized_templates(directory))}


def comparable(footprint: Footprint) -> Footprint:
    """Templates know no names of sources, and keep no record of what FSx does by itself."""
    return replace(
        footprint,
        supplies=tuple(sorted((replace(each, name="") for each in footprint.supplies), key=str)),
        file_systems=tuple(
            replace(each, backup_start_time=None, copy_tags_to_backups=False)
            for each in footprint.file_systems
        ),
        compile_type=None,
        custom_metrics=0,
    )


def test_what_exists_already_is_not_paid_again(tmp_path: Path) -> None:
    path = tmp_path / "existing.yaml"
    path.write_text(
        (ROLLOUTS / "quickstart.yaml")
        .read_text()
        .replace(
            "          storage_capacity_gib: 4800\n          per_unit_storage_throughput: 250 # MB/s for each TiB\n",
            "          file_system_id: fs-0123456789abcdef0\n          mount_name: abcdefgh\n",
        )
        .replace(
            "        jobs:\n",
            "        checkpoints: {bucket_name: mine}\n        compile_cache: {on_file_system: true}\n"
            "        network: {vpc_id: vpc-0123456789abcdef0, subnet_id: subnet-0123456789abcdef0}\n        jobs:\n",
        )
    )
    (cluster,) = clusters(path)
    footprint = configured_footprint(cluster)

    assert (footprint.file_systems, footprint.buckets, footprint.interface_endpoints) == ((), 0, 0)


def test_graphs_are_compiled_where_the_precompile_job_runs() -> None:
    (jobs,) = clusters(ROLLOUTS / "jobs.yaml")
    (quickstart,) = clusters(ROLLOUTS / "quickstart.yaml")

    assert configured_footprint(jobs).compile_type == "trn1.2xlarge"
    assert configured_footprint(quickstart).compile_type is None


def test_the_window_of_the_capacity_is_known_with_both_ends_only(tmp_path: Path) -> None:
    path = tmp_path / "rich.yaml"
    path.write_text(RICH)
    (cluster,) = clusters(path)
    (quickstart,) = clusters(ROLLOUTS / "quickstart.yaml")

    assert planned_hours(cluster) == Decimal(48)
    assert planned_hours(quickstart) is None


def test_metrics_of_nodes_are_paid_where_there_are_alarms(tmp_path: Path) -> None:
    path = tmp_path / "rich.yaml"
    path.write_text(RICH)
    (watched,) = clusters(path)
    (quickstart,) = clusters(ROLLOUTS / "quickstart.yaml")

    assert configured_footprint(watched).custom_metrics == sum(
        each.source != "training" for each in METRICS.values()
    )
    assert configured_footprint(quickstart).custom_metrics == 0
