"""The footprint of a configuration."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from tests.unit.stacks.cost.footprint_rollouts import RICH, ROLLOUTS, clusters

from ultracluster_spec.alarms import Alarms
from ultracluster_stacks.cost import configured_footprint, planned_hours


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

    assert configured_footprint(watched).custom_metrics == 31  # 20 of nodes and 11 of the watch
    assert configured_footprint(quickstart).custom_metrics > 0  # a Capacity Block has alarms by default
    unwatched = replace(quickstart, alarms=Alarms(enabled=False))
    assert configured_footprint(unwatched).custom_metrics == 0
