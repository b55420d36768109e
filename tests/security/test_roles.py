"""Every role of our templates may do what its row says, and nothing else."""

import pytest
from tests.security.everything import BOUNDARY, PATH
from tests.security.judged_roles import NARROWER_THAN_NEEDED, judged, problems
from tests.security.roles import ROLES
from tests.security.templates import ACCOUNT, Template
from tests.unit.ultracluster.iam_evaluation import as_list

pytestmark = pytest.mark.slow


def test_every_role_is_in_the_table_and_keeps_to_its_row(templates: list[Template]) -> None:
    assert problems(templates) == []


def test_every_row_has_a_role(templates: list[Template]) -> None:
    assert {description for _, _, description, _ in judged(templates)} == ROLES.keys()


def test_every_action_of_every_row_is_in_some_role(templates: list[Template]) -> None:
    named: dict[str, set[str]] = {}
    for _, _, description, statements in judged(templates):
        actions = named.setdefault(description, set())
        actions.update(action for each in statements for action in as_list(each["Action"]))
    assert {
        description: unused
        for description, row in ROLES.items()
        if (unused := row.may.keys() - named[description])
    } == {}


def test_each_exception_is_needed(templates: list[Template]) -> None:
    on_everything = {
        action
        for _, _, _, statements in judged(templates)
        for each in statements
        if "*" in as_list(each["Resource"])
        for action in as_list(each["Action"])
    }
    assert NARROWER_THAN_NEEDED.keys() <= on_everything


def _bounded(templates: list[Template]) -> list[Template]:
    found = [each for each in templates if each.name.startswith("bounded")]
    assert len(found) == 3
    return found


def test_every_role_of_a_bounded_cluster_has_the_boundary_and_the_path(templates: list[Template]) -> None:
    roles = [role for each in _bounded(templates) for _, role in each.of_type("AWS::IAM::Role")]
    assert len(roles) >= 15
    assert {role["PermissionsBoundary"] for role in roles} == {f"arn:aws:iam::{ACCOUNT}:policy/{BOUNDARY}"}
    assert {role["Path"] for role in roles} == {PATH}


def test_instance_profiles_are_under_the_path_too(templates: list[Template]) -> None:
    profiles = [
        profile for each in _bounded(templates) for _, profile in each.of_type("AWS::IAM::InstanceProfile")
    ]
    assert profiles
    assert {profile["Path"] for profile in profiles} == {PATH}


def test_no_role_is_named_by_an_arn_that_would_lack_the_path(templates: list[Template]) -> None:
    bounded = list(_bounded(templates))
    assert bounded
    for each in bounded:
        text = str(each.resources)
        assert ":role/" not in text
        assert ":instance-profile/" not in text


def test_roles_have_no_boundary_and_no_path_unless_asked_for(templates: list[Template]) -> None:
    roles = [(each.name, role) for each in templates for _, role in each.of_type("AWS::IAM::Role")]
    assert {name.startswith("bounded") for name, _ in roles} == {False, True}
    for name, role in roles:
        assert ("Path" in role) == ("PermissionsBoundary" in role) == name.startswith("bounded")
