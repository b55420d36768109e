"""User data in base64."""

import base64

import pytest
from tests.refusals import refusal, said

from ultracluster_local import LocalAws
from ultracluster_local.services.ec2.user_data import check_user_data, decoded

pytestmark = pytest.mark.slow  # imports moto


def encoded(size: int) -> str:
    return base64.b64encode(b"x" * size).decode()


def test_user_data_of_sixteen_kib_is_taken_and_no_more() -> None:
    assert said(check_user_data, encoded(16 * 1024)) == ""
    assert (
        said(check_user_data, encoded(16 * 1024 + 1))
        == "InvalidParameterValue: User data is limited to 16384 bytes"
    )


def test_a_launch_template_with_longer_user_data_is_malformed(local: LocalAws) -> None:
    ec2, data = local.client("ec2"), {"UserData": encoded(16 * 1024 + 1)}
    code, _ = refusal(ec2.create_launch_template, LaunchTemplateName="long", LaunchTemplateData=data)
    assert code == "InvalidUserData.Malformed"


@pytest.mark.parametrize("text", ["#!/bin/bash", "abc", "YWJj\n!"])
def test_user_data_that_is_not_encoded_is_refused(text: str) -> None:
    assert said(check_user_data, text) == "InvalidUserData.Malformed: Invalid BASE64 encoding of user data."


def test_bytes_other_than_text_do_not_stop_the_decoding() -> None:
    assert decoded(base64.b64encode("ä".encode()).decode()) == "ä"
    assert decoded(base64.b64encode(b"a\xff").decode()) == "a\N{REPLACEMENT CHARACTER}"
