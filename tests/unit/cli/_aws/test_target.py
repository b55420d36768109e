"""The CDK CLI deploys to the target of the command."""

from typing import Any

import pytest

from ultracluster_cli._aws.target import Target


@pytest.mark.parametrize(
    ("local", "profile", "options"),
    [
        (False, None, ()),
        (False, "production", ("--profile", "production")),
        (True, None, ("--no-notices",)),
    ],
)
def test_the_cdk_cli_uses_the_profile_and_stays_offline_on_a_local_aws(
    options: tuple[str, ...], profile: str | None, *, local: bool
) -> None:
    def client(*_: Any) -> Any:
        raise AssertionError

    target = Target(name="a target", local=local, environment={}, client=client, profile=profile)

    assert target.cdk_options == options
