"""AMIs of a rollout are read and written, whatever else of them is missing or wrong."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config.editing import cluster_images, image_values
from ultracluster_stacks.config.reading.yaml_edit import set_values

NEW = "ami-00000000000000001"
OTHER = "ami-00000000000000002"
TWO_REGIONS = """\
version: 1
waves:
  - name: first
    clusters:
      - {name: one, region: us-east-2, zone_id: use2-az3, instance_type: trn2.48xlarge, nodes: 1, capacity: {reservation_id: cr-0123456789abcdef0}, notify: [ml@example.com]}  # the first
      - name: two
        region: us-east-1
        zone_id: use1-az6
        instance_type: trn1.32xlarge
        nodes: 1
        image_id: latest  # to be pinned
        capacity: {reservation_id: cr-0123456789abcdef1}
        notify: [ml@example.com]
"""

Write = Callable[[str], Path]


def test_the_defaults_keep_the_id_when_all_clusters_take_it_from_there(write: Write, valid: str) -> None:
    images = cluster_images(write(valid))

    assert [(one.cluster.name, one.cluster.region, one.image_id, one.inherited) for one in images] == [
        ("train", "us-east-2", "ami-0123456789abcdef0", True)
    ]
    assert set_values(valid, image_values(images, {images[0].loc: NEW})) == valid.replace(
        "ami-0123456789abcdef0", f'"{NEW}"'
    )


def test_a_rollout_without_amis_or_with_wrong_ones_gets_one_for_each_region(write: Write) -> None:
    path = write(TWO_REGIONS)
    images = cluster_images(path)
    text = set_values(TWO_REGIONS, image_values(images, {images[0].loc: NEW, images[1].loc: OTHER}))

    assert [one.image_id for one in images] == ["", "latest"]
    assert "# the first" in text
    assert f'image_id: "{OTHER}"  # to be pinned' in text
    path.write_text(text)
    assert [one.image_id for one in cluster_images(path)] == [NEW, OTHER]


def test_the_defaults_do_not_keep_an_id_that_accounts_differ_in(write: Write, valid: str) -> None:
    head, cluster = valid.split("      - name: train\n")
    second = cluster.replace("cr-0123456789abcdef0", "cr-0fedcba9876543210")
    two = f"{head}      - name: train\n{cluster}      - name: other\n        profile: other\n{second}"
    images = cluster_images(write(two))
    assert [one.cluster.profile for one in images] == [None, "other"]
    text = set_values(two, image_values(images, {images[0].loc: NEW, images[1].loc: OTHER}))
    assert "ami-0123456789abcdef0" in text
    assert [one.image_id for one in cluster_images(write(text))] == [NEW, OTHER]


def test_every_other_mistake_of_the_file_stops_it(write: Write) -> None:
    with pytest.raises(FindingsError) as caught:
        cluster_images(write(TWO_REGIONS.replace("nodes: 1,", "nodes: 0,")))

    assert [finding.code for finding in caught.value.findings] == ["UC4101"]
