"""Nodes run a further script that leaves them in their cluster."""

import pytest

from ultracluster_spec.nodes import check_user_data

KEY = "AKIA" + "Q7K3Z5M2X4P6R5T4"


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("", "got ''"),
        ("mkdir /data", "got 'mkdir /data'"),
        ("#cloud-config", "got '#cloud-config'"),
        ("#!/bin/sh\n# \xe9", "got"),
        ("#!/bin/sh\n".ljust(2_049, "x"), "got 2,049 bytes"),
        ("#!/bin/sh\necho ECS_CLUSTER=x >>/etc/ecs/ecs.config", "sets what is set already"),
        ("#!/bin/sh\n--==ULTRACLUSTER==--", "sets what is set already"),
    ],
)
def test_a_script_that_a_node_cannot_add_is_refused(script: str, problem: str) -> None:
    (found,) = check_user_data(script)
    assert found.code == "UC4151"
    assert problem in found.problem


def test_a_script_holds_no_credential() -> None:
    (found,) = check_user_data(f"#!/bin/sh\nexport AWS_ACCESS_KEY_ID={KEY}")
    assert found.code != "UC4151"
    assert KEY not in str(found)


def test_the_largest_script_is_taken() -> None:
    assert check_user_data("#!/bin/sh\n".ljust(2_048, "x")) == []
