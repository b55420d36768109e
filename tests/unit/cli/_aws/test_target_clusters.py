"""Each stack is read with the credentials of its cluster's profile."""

import pytest
from tests.unit.cli._aws.two_accounts import TARGETS

from ultracluster_cli._aws.target import single_target
from ultracluster_spec.findings import FindingsError


def test_a_removed_cluster_has_no_target_if_the_file_uses_profiles() -> None:
    own = TARGETS.targets[None]

    assert single_target(own).of("gone") is own
    with pytest.raises(FindingsError, match="is no longer in the rollout file"):
        TARGETS.of("gone")
