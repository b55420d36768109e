"""Instance types, families and bundles of compute environments."""

import pytest
from tests.refusals import said

from ultracluster_local.services.batch.instance_types import architectures, check_instance_types, family_of

pytestmark = pytest.mark.slow  # imports moto


@pytest.mark.parametrize(
    "types", [["trn2.48xlarge"], ["trn1", "c5.large"], ["optimal"], ["c6g", "c7g.large"]]
)
def test_types_families_and_bundles_of_one_architecture_are_taken(types: list[str]) -> None:
    assert said(check_instance_types, types) == ""


@pytest.mark.parametrize("name", ["trn2.47xlarge", "trn", "", "TRN2.48XLARGE"])
def test_an_unknown_type_is_refused_with_the_list_of_those_that_are_known(name: str) -> None:
    words = said(check_instance_types, ["trn2.48xlarge", name])

    assert "Instance type can only be one of [" in words
    assert "trn2.48xlarge" in words


@pytest.mark.parametrize(
    "types", [["c5.large", "c6g.large"], ["optimal", "c6g"], ["default_arm64", "trn2.48xlarge"]]
)
def test_types_of_two_architectures_are_refused(types: list[str]) -> None:
    assert "arm-based instance type cannot be used with other instance types" in said(
        check_instance_types, types
    )


def test_the_architecture_of_a_family_is_that_of_its_types() -> None:
    assert family_of("c6g.large") == family_of("c6g") == "c6g"
    assert architectures(["c6g", "c6g.large", "default_arm64"]) == {"arm64"}
    assert architectures(["of-the-future.large"]) == set()
