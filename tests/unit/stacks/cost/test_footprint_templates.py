"""The footprint of templates is that of the configuration that they are made of."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.stacks.cost.footprint_rollouts import AUTO_SCALING, RICH, ROLLOUTS, clusters
from tests.unit.stacks.two_clusters import assembled

from ultracluster_stacks.cost import Footprint, configured_footprint, template_footprint


@pytest.mark.slow
@pytest.mark.parametrize("rollout", ["quickstart", "rich", "auto-scaling"])
def test_a_configuration_and_its_templates_have_the_same_footprint(rollout: str, tmp_path: Path) -> None:
    path = ROLLOUTS / "quickstart.yaml"
    if rollout != "quickstart":
        path = tmp_path / "rollout.yaml"
        path.write_text(RICH if rollout == "rich" else AUTO_SCALING)
    (cluster,) = clusters(path)

    shown = template_footprint(cluster.name, assembled(path))

    expected = configured_footprint(cluster)
    assert comparable(shown) == comparable(expected)
    assert shown.buckets >= 2


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
