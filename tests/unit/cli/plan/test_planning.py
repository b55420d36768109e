"""A plan is checked against `--allow` and the limits of CloudFormation."""

from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.cli.plan.fake_project import CHANGED, TEMPLATE, edited, write_assembly

pytestmark = pytest.mark.slow


def test_a_word_that_allows_nothing_is_refused(run: Run, project: Path) -> None:
    write_assembly(project / "new", edited("FileSystemTypeVersion", "2.12"))

    outcome = run("plan", "--against", "old", "--allow", CHANGED, "--allow", "replace:a-Storage/Other")

    assert outcome.code == 2
    assert outcome.stderr.startswith("error: --allow")
    assert CHANGED in outcome.stderr


def test_a_stack_that_cloudformation_would_refuse_is_refused(run: Run, project: Path) -> None:
    topics = {f"Topic{number}": {"Type": "AWS::SNS::Topic", "Properties": {}} for number in range(500)}
    write_assembly(project / "new", {"Resources": {**TEMPLATE["Resources"], **topics}})

    outcome = run("plan", "--against", "old")

    assert outcome.code == 2
    assert "UC9650" in outcome.stderr
    assert "502 of 500 resources in a-Storage" in outcome.stderr
