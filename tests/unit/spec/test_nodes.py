"""Nodes run a further script that leaves them in their cluster."""

import pytest

from ultracluster_spec.nodes import check_commands, check_user_data

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


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("amazon-linux-extras install -y lustre2.10", "amazon-linux-extras"),
        ("sudo /usr/bin/amazon-linux-extras enable epel", "amazon-linux-extras"),
        ("runcmd:\n  - [amazon-linux-extras, install]", ""),
        ("runcmd:\n  - amazon-linux-extras install epel", "amazon-linux-extras"),
        ("mkdir /fsx && amazon-linux-extras install -y lustre", "amazon-linux-extras"),
        ("yum install -y htop epel-release", "epel-release"),
        ("dnf install -y lustre2.10", "lustre2.10"),
        ("python2 /opt/setup.py", "python2"),
        ("if grep -q 2023 /etc/os-release; then true; else amazon-linux-extras install lustre; fi", ""),
        ("command -v amazon-linux-extras && amazon-linux-extras install lustre", ""),
        ("# amazon-linux-extras is gone", ""),
        ("yum install -y lustre-client", ""),
        ("python3 /opt/setup.py", ""),
    ],
)
def test_a_script_calls_what_amazon_linux_2023_has(line: str, found: str) -> None:
    problems = [each.problem for each in check_user_data(f"#!/bin/bash\n{line}\n")]
    assert problems == ([f"got {found}, which Amazon Linux 2023 lacks"] if found else [])
    assert [each.problem for each in check_commands(line)] == problems


def test_a_script_holds_no_credential() -> None:
    (found,) = check_user_data(f"#!/bin/sh\nexport AWS_ACCESS_KEY_ID={KEY}")
    assert found.code != "UC4151"
    assert KEY not in str(found)


def test_the_largest_script_is_taken() -> None:
    assert check_user_data("#!/bin/sh\n".ljust(2_048, "x")) == []
