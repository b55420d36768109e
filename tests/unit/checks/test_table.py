"""The table of rules."""

import pytest
from tests.unit.checks import (
    test_containers,
    test_costs,
    test_credentials,
    test_environments,
    test_file_systems,
    test_interfaces,
    test_jobs,
    test_landing,
    test_launches,
    test_life,
    test_policies,
    test_reach,
    test_roles,
    test_security_groups,
    test_settings,
    test_sizes,
    test_state,
    test_subnets,
    test_used_together,
    test_variables,
    test_whole_cluster,
)
from tests.unit.checks.defects import DEFECTS, Edits
from tests.unit.checks.edits import codes_after

from ultracluster_checks import Source, check_templates
from ultracluster_checks.table import CHECKS, template_codes
from ultracluster_rules.registry import RULES


def test_a_rule_is_in_the_table_once() -> None:
    assert len(set(CHECKS)) == len(CHECKS)


def test_only_rules_for_templates_are_marked_as_never_left_out() -> None:
    never = {code for code, rule in RULES.items() if rule.never_left_out}

    assert never
    assert never <= template_codes()


RULE_TESTS = (
    test_containers,
    test_costs,
    test_credentials,
    test_environments,
    test_file_systems,
    test_interfaces,
    test_jobs,
    test_landing,
    test_launches,
    test_life,
    test_policies,
    test_reach,
    test_roles,
    test_security_groups,
    test_settings,
    test_sizes,
    test_state,
    test_subnets,
    test_used_together,
    test_variables,
    test_whole_cluster,
)


@pytest.mark.parametrize("name", ["batch-efa", "block-nodes", "lustre-data"])
def test_a_good_template_of_other_people_breaks_nothing(foreign: dict[str, Source], name: str) -> None:
    assert check_templates([foreign[name]]).findings == ()


@pytest.mark.parametrize(
    ("codes", "base", "edits"),
    [pytest.param(codes, base, edits, id=name) for codes, base, name, edits in DEFECTS],
)
def test_a_mistake_breaks_the_rules_that_it_is_about(
    foreign: dict[str, Source], codes: str, base: str, edits: Edits
) -> None:
    assert codes_after(foreign, base, edits) == codes.split()


def test_every_rule_is_broken_by_some_edit() -> None:
    broken = {code for codes, *_ in DEFECTS for code in codes.split()}
    broken |= {code for tests in RULE_TESTS for code, *_ in tests.BROKEN}

    assert broken == template_codes()
