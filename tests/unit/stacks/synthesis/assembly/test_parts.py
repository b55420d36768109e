"""The parts of an assembly, one for each cluster."""

from collections.abc import Callable
from pathlib import Path

from tests.unit.stacks.synthesis.stand_in import Synthesized, cache_in

from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.synthesis.app import synthesize


def test_what_a_cluster_left_behind_before_goes_with_its_new_part(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    synthesize(clusters(aa=1), tmp_path / "out", cache=cache_in(tmp_path))
    (tmp_path / "out" / "assembly-aa-us-east-1" / "old.template.json").write_text("{}")
    synthesize(clusters(aa=1), tmp_path / "out", cache=cache_in(tmp_path))

    assert len(synthesized) == 1
    assert not (tmp_path / "out" / "assembly-aa-us-east-1" / "old.template.json").exists()
