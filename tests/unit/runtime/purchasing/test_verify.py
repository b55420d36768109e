"""Verification of consumption: no findings if all is right, and findings in all other cases."""

from typing import Any
from unittest.mock import MagicMock

import pytest

from ultracluster_runtime.purchasing.verify import LaunchedInstance, check_consumption, read_instances

OURS = {"cr-1": 2}
RIGHT = LaunchedInstance(instance_id="i-1", lifecycle="capacity-block", reservation_id="cr-1")


def test_reads_the_instances_that_match_and_live() -> None:
    right = {"InstanceId": "i-1", "InstanceLifecycle": "capacity-block", "CapacityReservationId": "cr-1"}
    ec2: Any = MagicMock()
    ec2.get_paginator("describe_instances").paginate.return_value = [
        {"Reservations": [{"Instances": [right]}, {"Instances": [{"InstanceId": "i-2"}]}]}
    ]
    ec2.get_paginator.reset_mock()
    ours = {"Name": "tag:of", "Values": ["us"]}
    plain = LaunchedInstance(instance_id="i-2", lifecycle="", reservation_id=None)
    assert read_instances(ec2, filters=[ours]) == [RIGHT, plain]
    ec2.get_paginator.assert_called_once_with("describe_instances")
    alive = {"Name": "instance-state-name", "Values": ["pending", "running"]}
    ec2.get_paginator().paginate.assert_called_once_with(Filters=[ours, alive])


def test_reports_nothing_if_all_instances_run_in_the_block() -> None:
    proof = check_consumption([RIGHT, RIGHT], reserved=OURS)
    assert (proof.reserved, proof.inside, proof.outside, proof.findings) == (2, 2, 0, ())


@pytest.mark.parametrize(
    ("lifecycle", "reservation_id", "said"),
    [
        ("", None, "on-demand"),
        ("spot", None, "spot"),
        ("capacity-block", "cr-2", "cr-2"),
        ("capacity-block", None, "no reservation"),
        ("", "cr-1", "on-demand"),
    ],
)
def test_reports_an_instance_outside_the_reservation(
    lifecycle: str, reservation_id: str | None, said: str
) -> None:
    stray = LaunchedInstance(instance_id="i-2", lifecycle=lifecycle, reservation_id=reservation_id)
    proof = check_consumption([RIGHT, stray], reserved=OURS)
    (finding,) = proof.findings
    assert (finding.code, finding.path) == ("UC7045", "i-2")
    assert said in finding.problem
    assert (proof.inside, proof.outside) == (1, 1)


def test_reports_an_unused_block() -> None:
    (finding,) = check_consumption([], reserved=OURS).findings
    assert finding.code == "UC7046"


def test_instances_of_an_on_demand_reservation_have_no_lifecycle_value() -> None:
    plain = LaunchedInstance(instance_id="i-1", lifecycle="", reservation_id="cr-1")
    assert check_consumption([plain], reserved=OURS, is_block=False).findings == ()
    assert check_consumption([plain], reserved=OURS).findings != ()
