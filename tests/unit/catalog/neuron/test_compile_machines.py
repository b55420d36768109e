import pytest

from ultracluster_catalog.neuron.compile_machines import smaller_compile_types
from ultracluster_rules.machines import get_instance_type


@pytest.mark.parametrize(
    ("instance_type", "zone_id", "found"),
    [
        ("trn1.32xlarge", "use2-az3", ["trn1.2xlarge"]),
        ("trn1.32xlarge", "eun1-az1", []),
        ("trn1.2xlarge", "use2-az3", []),
        ("trn1n.32xlarge", "use2-az3", []),  # the compiler has a target of its own for it
        ("trn2.48xlarge", "use2-az3", []),
        ("trn2.48xlarge", "apse4-az3", ["trn2.3xlarge"]),
        ("inf2.48xlarge", "use2-az1", ["inf2.xlarge", "inf2.8xlarge", "inf2.24xlarge"]),
        ("p5.48xlarge", "use2-az1", []),
    ],
)
def test_finds_smaller_types_of_the_same_target_in_the_zone(
    instance_type: str, zone_id: str, found: list[str]
) -> None:
    types = smaller_compile_types(get_instance_type(instance_type), zone_id=zone_id)
    assert [row.name for row in types] == found
