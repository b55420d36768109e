"""The local AWS answers as AWS was seen to answer."""

import pytest
from tests.field.case import Case, cases
from tests.field.run import DISAGREED, run

from ultracluster_local import LocalAws

pytestmark = pytest.mark.slow

_CASES = cases()


@pytest.mark.parametrize("case", _CASES, ids=lambda case: f"{case.id}-{case.name}")
def test_the_local_aws_answers_as_aws_did(case: Case, local_aws_server: LocalAws) -> None:
    outcome = run(case, local_aws_server)

    assert outcome.verdict != DISAGREED, f"{case.condition}: AWS: {case.quote}; local AWS: {outcome.said}"


def test_no_two_cases_share_a_number() -> None:
    numbers = [case.id for case in _CASES]

    assert sorted(numbers) == sorted(set(numbers))
