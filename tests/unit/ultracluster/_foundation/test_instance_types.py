"""Instance types as users pass them."""

import pytest
from aws_cdk import aws_ec2 as ec2

from ultracluster._foundation.instance_types import instance_type_of
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_spec.findings import FindingsError

TRN2 = INSTANCE_TYPES["trn2.48xlarge"]


def test_a_type_is_found_by_its_name_by_the_class_of_the_cdk_and_by_its_description() -> None:
    assert [instance_type_of(each) for each in (TRN2.name, ec2.InstanceType(TRN2.name), TRN2)] == [TRN2] * 3


@pytest.mark.parametrize("name", ["trn9.48xlarge", "m5.large"])
def test_an_unknown_type_of_the_cdk_is_refused_as_its_name_is(name: str) -> None:
    for instance_type in (name, ec2.InstanceType(name)):
        with pytest.raises(FindingsError, match=rf"UC4001: instance_type: got '{name}'"):
            instance_type_of(instance_type)
