import pytest
from aws_cdk import aws_ec2 as ec2

from ultracluster._foundation.machines import machine_of
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_rules.findings import FindingsError

pytestmark = pytest.mark.synth


def test_a_type_is_known_by_name_by_description_and_by_the_class_of_the_cdk() -> None:
    machine = INSTANCE_TYPES["trn2.48xlarge"]

    assert machine_of("trn2.48xlarge") == machine_of(machine) == machine
    assert machine_of(ec2.InstanceType("trn2.48xlarge")) == machine
    assert machine_of(ec2.InstanceType.of(ec2.InstanceClass.P5, ec2.InstanceSize.XLARGE48)).gpus == 8


def test_a_type_of_the_cdk_that_the_catalogue_lacks_is_refused_by_its_name() -> None:
    with pytest.raises(FindingsError, match=r"UC4001: .*'m5\.large'"):
        machine_of(ec2.InstanceType("m5.large"))
