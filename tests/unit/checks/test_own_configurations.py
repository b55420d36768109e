"""Our own configurations, in which the rules find nothing."""

import pytest
from tests.golden.configurations import configurations
from tests.golden.synthesis import stacks_of

from ultracluster_checks import Source, check_templates
from ultracluster_spec.findings import Finding

DISPOSABLE = "disposable.yaml"  # removal_policy: destroy


def _findings(name: str) -> list[Finding]:
    sources = [
        Source(name=each.name, body=each.template, region=each.region or None) for each in stacks_of(name)
    ]
    return list(check_templates(sources).findings)


@pytest.mark.parametrize("name", configurations())
def test_our_own_configurations_break_nothing(name: str) -> None:
    found = [str(finding) for finding in _findings(name)]

    assert found == [] or name == DISPOSABLE


def test_data_that_goes_with_its_stack_is_reported_also_where_a_user_asked_for_it() -> None:
    assert {finding.code for finding in _findings(DISPOSABLE)} == {"UC5201"}
