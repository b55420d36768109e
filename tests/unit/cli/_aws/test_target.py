"""The CDK CLI deploys to the target of the command, with the credentials of the cluster's profile."""

from typing import Any

import pytest
from tests.unit.cli._aws.two_accounts import TARGETS

from ultracluster_cli._aws.target import Target, single_target
from ultracluster_spec.findings import FindingsError


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


def test_a_removed_cluster_has_no_target_if_the_file_uses_profiles() -> None:
    own = TARGETS.targets[None]

    assert single_target(own).of("gone") is own
    with pytest.raises(FindingsError, match="is no longer in the rollout file"):
        TARGETS.of("gone")
