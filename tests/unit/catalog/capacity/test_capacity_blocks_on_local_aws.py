"""The terms that the local AWS sells Capacity Blocks on, compared with the catalogue, which is stated independently."""

import pytest

from ultracluster_catalog.capacity import capacity_blocks as catalogue
from ultracluster_catalog.machines.instance_type import CAPACITY_BLOCK
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.places.zones import REGIONS
from ultracluster_local.services.ec2 import capacity_block_terms as terms

pytestmark = pytest.mark.slow  # imports moto


def test_both_know_the_same_durations() -> None:
    assert [hours for hours in range(6000) if terms.is_offered_duration(hours)] == list(
        catalogue.block_durations(min_hours=0, max_hours=6000)
    )


@pytest.mark.parametrize("name", INSTANCE_TYPES)
def test_both_know_the_same_of_an_instance_type(name: str) -> None:
    row = INSTANCE_TYPES[name]
    assert terms.vcpus(name) == row.vcpus
    assert [region for region in REGIONS if terms.sold_in(name, region)] == sorted(
        region for region in catalogue.block_regions(name) if region in REGIONS
    )
    ultraservers = {kind: shape for kind, shape in terms.ULTRASERVERS.items() if shape[0] == name}
    assert terms.is_sold_by_instance(name) == (
        CAPACITY_BLOCK in row.purchase_options and row.ultraserver_type is None
    )
    assert ultraservers == (
        {row.ultraserver_type: (name, row.instances_per_ultraserver)} if row.ultraserver_type else {}
    )


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("BLOCK_DELIVERED_EVENTS", "DELIVERED_EVENTS"),
        ("BLOCK_END_UTC", "BLOCK_END_UTC"),
        ("BLOCK_EXPIRATION_WARNING_EVENTS", "EXPIRATION_WARNING_EVENTS"),
        ("BLOCK_PLATFORMS", "PLATFORMS"),
        ("EXTENSION_CLOSES", "EXTENSION_CLOSES"),
        ("EXTENSION_OPENS", "EXTENSION_OPENS"),
        ("FURTHEST_START", "FURTHEST_START"),
        ("INSTANCE_INTERRUPTION_WARNING_EVENT", "INTERRUPTION_WARNING_EVENT"),
        ("LONGEST_BLOCK", "LONGEST_BLOCK"),
        ("MAX_INSTANCES_PER_BLOCK", "MAX_INSTANCES"),
        ("NEAREST_START", "NEAREST_START"),
        ("TERMINATION_BEFORE_END", "TERMINATION_BEFORE_END"),
        ("ULTRASERVER_TERMINATION_BEFORE_END", "ULTRASERVER_TERMINATION_BEFORE_END"),
    ],
)
def test_both_know_the_same_figure(theirs: str, ours: str) -> None:
    assert getattr(terms, ours) == getattr(catalogue, theirs)
