"""The footprint of templates is that of the configuration that they are made of."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stacks.conftest import synthesized_templates
from tests.unit.stacks.cost.footprint_rollouts import AUTO_SCALING, RICH, ROLLOUTS, clusters

from ultracluster_stacks.cost import Footprint, configured_footprint, template_footprint
from ultracluster_stacks.plan import StackTemplate


@pytest.mark.slow
@pytest.mark.parametrize("rollout", ["quickstart", "rich", "auto-scaling"])
def test_a_configuration_and_its_templates_have_the_same_footprint(
    rollout: str, tmp_path: Path, templates: dict[str, dict[str, Any]], synthesize: Callable[..., Any]
) -> None:
    path = ROLLOUTS / "quickstart.yaml"
    found = templates
    if rollout != "quickstart":
        path = tmp_path / "rollout.yaml"
        path.write_text(RICH if rollout == "rich" else AUTO_SCALING)
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
