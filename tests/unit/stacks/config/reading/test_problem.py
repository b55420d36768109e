"""A problem is shown with its place in the file, and never with a credential."""

import pytest

from ultracluster_spec.credentials import shown
from ultracluster_stacks.config.reading.problem import Loc, Problem, loc_text, under, unknown_key


@pytest.mark.parametrize(
    ("loc", "text"),
    [
        ((), ""),
        (("waves", 0, "clusters", 12, "nodes"), "waves[0].clusters[12].nodes"),
        (("defaults", "tags", "aws:x"), "defaults.tags['aws:x']"),
        (("defaults", "cost-center"), "defaults.cost-center"),
        (("n\u00f6des",), "['n\\xf6des']"),
    ],
)
def test_a_location_is_written_in_ascii(loc: Loc, text: str) -> None:
    assert loc_text(loc) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing"),
        (True, "true"),
        ({"a": 1}, "a mapping"),
        ([1], "a list"),
        ((1,), "a list"),
        (3.5, "3.5"),
        ("caf\u00e9", "'caf\\xe9'"),
    ],
)
def test_a_value_is_shown_by_its_kind(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_long_value_is_cut_and_a_credential_hidden() -> None:
    assert len(shown("x" * 500)) <= 80
    assert "AKIAIOSFODNN7EXAMPLE" not in shown("id AKIAIOSFODNN7EXAMPLE")


def test_a_problem_moves_below_a_prefix_and_keeps_its_finding() -> None:
    problem = Problem.of(("nodes",), code="UC4101", problem="got 0", allowed="1 to 3")

    assert under(("waves", 0), problem) == Problem(("waves", 0, "nodes"), problem.finding)


def test_an_unknown_key_is_reported_with_the_closest_one() -> None:
    finding = unknown_key(("jobs", 0, "imge"), ["image", "name"], of="a job").finding

    assert finding.problem == "unknown key 'imge' of a job"
    assert finding.remedy == "Did you mean 'image'?"
