"""Clusters are read as the file writes them, beside what they inherit."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ultracluster_rules.findings import FindingsError
from ultracluster_stacks.config.editing import read_clusters, validated_clusters

Write = Callable[[str | bytes], Path]


def test_a_cluster_has_its_own_values_and_the_merged_ones(write: Write, valid: str) -> None:
    (cluster,) = read_clusters(write(valid))

    assert (cluster.loc, cluster.wave) == (("waves", 0, "clusters", 0), "first")
    assert "image_id" not in cluster.own
    assert cluster.merged["image_id"] == "ami-0123456789abcdef0"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("image_id: ami-0123456789abcdef0", "image_id: latest"),
        ("reservation_id: cr-0123456789abcdef0", "order: december"),
    ],
)
def test_images_and_unresolved_orders_do_not_count_as_mistakes(
    write: Write, valid: str, old: str, new: str
) -> None:
    assert len(validated_clusters(write(valid.replace(old, new)))) == 1


def test_every_other_mistake_is_reported_without_them(write: Write, valid: str) -> None:
    text = valid.replace("image_id: ami-0123456789abcdef0", "image_id: latest").replace(
        "nodes: 4", "nodes: 0"
    )

    with pytest.raises(FindingsError) as refused:
        validated_clusters(write(text))

    assert [finding.code for finding in refused.value.findings] == ["UC4101"]
