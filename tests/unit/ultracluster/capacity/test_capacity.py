import aws_cdk as cdk
import pytest

from ultracluster import CapacityBlock
from ultracluster.capacity.sources import check_source

pytestmark = pytest.mark.slow


def test_accepts_an_id_that_is_known_at_deployment_only() -> None:
    parameter = cdk.CfnParameter(cdk.Stack(), "Reservation")
    assert (
        check_source(
            CapacityBlock(reservation_id=parameter.value_as_string, zone_id="use2-az3"), path="capacity"
        )
        == []
    )
