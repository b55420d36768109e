"""What was synthesized before is kept, unless it is damaged or misses an asset."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.unit.stacks.synthesis.stand_in import (
    Synthesized,
    cache_in,
    content,
    validation_warning,
)

from ultracluster_spec.cluster import Cluster
from ultracluster_stacks.synthesis.app import synthesize
from ultracluster_stacks.synthesis.assembly.cache import AssemblyCache


def test_another_fingerprint_knows_nothing(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    for fingerprint in ("one", "two"):
        cache = AssemblyCache(tmp_path / "cache", fingerprint=fingerprint)
        synthesize(clusters(aa=1), tmp_path / fingerprint, cache=cache)

    assert synthesized == [["aa"], ["aa"]]


def test_a_cluster_with_a_missing_asset_is_synthesized_again(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    synthesize(clusters(aa=1), tmp_path / "first", cache=cache_in(tmp_path))
    for entry in (tmp_path / "cache").iterdir():
        if b"code of aa" in entry.read_bytes():
            entry.unlink()
    synthesize(clusters(aa=1), tmp_path / "again", cache=cache_in(tmp_path))

    assert synthesized == [["aa"], ["aa"]]
    assert content(tmp_path / "again") == content(tmp_path / "first")


def test_a_damaged_cache_costs_time_only(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    synthesize(clusters(aa=1, bb=2), tmp_path / "first", cache=cache_in(tmp_path))
    for entry in (tmp_path / "cache").iterdir():
        entry.write_bytes(entry.read_bytes()[:-1])
    synthesize(clusters(aa=1, bb=2), tmp_path / "again", cache=cache_in(tmp_path))

    assert synthesized == [["aa", "bb"], ["aa", "bb"]]
    assert content(tmp_path / "again") == content(tmp_path / "first")


def test_what_validation_warned_of_is_said_again_and_the_other_clusters_are_kept(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    for name in ("first", "again"):
        synthesize(clusters(aa=1, warned=1), tmp_path / name, cache=cache_in(tmp_path))

    assert synthesized == [["aa", "warned"], ["warned"]]
    report = json.loads((tmp_path / "again" / "validation-report.json").read_text())
    assert report["pluginReports"] == [validation_warning("warned-us-east-1/S/T")]


def test_what_is_said_of_several_clusters_is_said_of_each_once(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    synthesize(clusters(aa=1), tmp_path / "first", cache=cache_in(tmp_path))
    synthesize(clusters(aa=1, warned=1, warned2=1), tmp_path / "out", cache=cache_in(tmp_path), processes=1)

    assert synthesized == [["aa"], ["warned", "warned2"]]
    report = json.loads((tmp_path / "out" / "validation-report.json").read_text())
    paths = ("warned-us-east-1/S/T", "warned2-us-east-1/S/T")
    assert report["pluginReports"] == [validation_warning(each) for each in paths]


def test_a_violation_that_names_no_construct_keeps_every_cluster_out_of_the_cache(
    tmp_path: Path, synthesized: Synthesized, clusters: Callable[..., list[Cluster]]
) -> None:
    for name in ("first", "again"):
        synthesize(clusters(aa=1, template=1), tmp_path / name, cache=cache_in(tmp_path))

    assert synthesized == [["aa", "template"], ["aa", "template"]]
