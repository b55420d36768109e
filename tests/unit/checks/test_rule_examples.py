"""The examples of the notes about rules for templates: the first one breaks its rule, the second one keeps it."""

import textwrap

import pytest
from tests.rule_examples import EXAMPLES as ALL_EXAMPLES
from tests.rule_examples import Example

from ultracluster_checks import Source, check_templates
from ultracluster_checks.table import template_codes
from ultracluster_stacks.yaml_template import read_yaml_template

EXAMPLES = ALL_EXAMPLES["template"]
OWN_SECTIONS = ("UC32", "UC42", "UC52", "UC640", "UC641", "UC642")


def codes(example: str) -> set[str]:
    body, lines = read_yaml_template("Resources:\n" + textwrap.indent(example.strip("\n"), "  "))
    report = check_templates([Source(name="example", body=body, region="us-east-2", lines=lines)])
    return {finding.code for finding in report.findings}


@pytest.mark.parametrize(("code", "note"), EXAMPLES.items(), ids=EXAMPLES)
def test_an_example_breaks_its_rule_and_the_other_keeps_it(code: str, note: Example) -> None:
    assert code in codes(note.fails)
    assert code not in codes(note.passes)


def test_every_rule_for_templates_alone_has_examples() -> None:
    own = {code for code in template_codes() if code.startswith(OWN_SECTIONS)}

    assert own - EXAMPLES.keys() == {"UC4209"}  # 16 KiB are no example
    assert len(own) > 50
