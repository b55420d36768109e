"""Commands that edit a rollout file load it without what they fill in: AMIs and orders."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.config.editing import cluster_images, image_values, load_editable, ordered_capacity
from ultracluster_stacks.config.reading.yaml_edit import set_values

Write = Callable[[str | bytes], Path]


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
    (cluster,) = load_editable(write(valid.replace(old, new))).clusters()

    assert (cluster.name, cluster.nodes) == ("train", 4)


def test_every_other_mistake_is_reported_without_them(write: Write, valid: str) -> None:
    text = valid.replace("image_id: ami-0123456789abcdef0", "image_id: latest").replace(
        "nodes: 4", "nodes: 0"
    )

    with pytest.raises(FindingsError) as refused:
        load_editable(write(text))

    assert [finding.code for finding in refused.value.findings] == ["UC4101"]


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


RESERVATION = "          reservation_id: cr-0123456789abcdef0\n"
ORDER = "          order: december\n"
FURTHER = (
    "        additional_capacity:\n"
    "          - {name: more, market_type: on-demand, order: january, max_nodes: 2}\n"
    "        network: {cidr"
)


def test_reads_the_orders_of_a_cluster_and_of_its_further_capacity(write: Write, valid: str) -> None:
    path = write(valid.replace(RESERVATION, ORDER).replace("        network: {cidr", FURTHER))

    first, second = ordered_capacity(load_editable(path))

    assert (first.order, first.path, first.nodes, first.capacity.market_type) == (
        "december",
        "capacity",
        4,
        "capacity-block",
    )
    assert (second.order, second.path, second.nodes, second.capacity.market_type) == (
        "january",
        "additional_capacity.0",
        2,
        "on-demand",
    )
    assert second.loc == ("waves", 0, "clusters", 0, "additional_capacity", 0)
    assert first.cluster == second.cluster
    assert (first.cluster.name, first.cluster.region) == ("train", "us-east-2")


@pytest.mark.parametrize(("reservation", "gives_zone"), [("", True), (RESERVATION, False)])
def test_only_the_first_unresolved_order_decides_about_the_zone(
    write: Write, valid: str, reservation: str, *, gives_zone: bool
) -> None:
    path = write(valid.replace(RESERVATION, ORDER + reservation).replace("        network: {cidr", FURTHER))

    capacities = ordered_capacity(load_editable(path))

    assert [capacity.gives_zone for capacity in capacities] == [gives_zone, False]


def test_a_rollout_without_orders_has_no_ordered_capacity(write: Write, valid: str) -> None:
    assert list(ordered_capacity(load_editable(write(valid)))) == []


def test_only_the_capacity_of_one_wave_is_read(write: Write, valid: str) -> None:
    rollout = load_editable(write(valid.replace(RESERVATION, ORDER)))

    assert [capacity.order for capacity in ordered_capacity(rollout, wave="first")] == ["december"]
    assert list(ordered_capacity(rollout, wave="second")) == []
