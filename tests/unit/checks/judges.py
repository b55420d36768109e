"""Three judges of templates: our rules, the validator that the CDK uses, and cfn-lint."""

import functools
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import cloudformation_validate as validator
from tests.cfn_lint import lint
from tests.golden.kept import read_kept
from tests.unit.checks.defects import DEFECTS, Defect, with_defect

from ultracluster_checks import Source, check_templates
from ultracluster_stacks.check import read_templates

__all__ = ["JUDGES", "REGION", "good_templates", "is_caught", "said_of"]

REGION = "us-east-2"
_HERE = Path(__file__).parent
_KEPT = _HERE.parents[1] / "golden" / "next"
_STRICT = validator.ValidateConfig(
    severity_level=validator.Severity.WARN,
    detail_level=validator.DetailLevel.STANDARD,
    pseudo_parameter_overrides=validator.PseudoParameterOverrides(region=REGION),
)

# A name such as W3030, and where or what: the same again is another one.
Said = Counter[tuple[str, str]]


@functools.cache
def good_templates(base: str) -> tuple[tuple[Source, ...], int]:
    """The templates that a defect is seeded into, looked at together, and the number of the one that it is in."""
    configuration, _, stack = base.partition("/")
    if not stack:
        return tuple(read_templates([_HERE / "foreign" / f"{base}.yaml"], region=REGION)), 0
    kept = read_kept((_KEPT / f"{configuration}.yaml.json").read_text(encoding="utf-8"))
    sources = tuple(Source(name=each.name, body=each.template, region=each.region) for each in kept)
    return sources, next(number for number, each in enumerate(sources) if each.name.endswith(stack))


def _ours(templates: Sequence[Source], number: int) -> Said:
    """What our rules say."""
    del number  # what is wrong in one template may be said of another
    report = check_templates(templates)
    return Counter((finding.code, f"{finding.location} {finding.path}") for finding in report.findings)


def _validate(templates: Sequence[Source], number: int) -> Said:
    """What the validator of AWS says by its own rules: warnings and errors."""
    content = validator.TemplateContent(json.dumps(templates[number].body), "template")
    report = _engine().validate_template(content, _STRICT)
    return Counter((each.rule_id, each.message) for each in report.diagnostics)


def _cfn_lint(templates: Sequence[Source], number: int) -> Said:
    """What cfn-lint says: warnings and errors."""
    matches = lint(json.dumps(templates[number].body), regions=[REGION])
    return Counter((match.rule.id, match.message) for match in matches)


JUDGES: dict[str, Callable[[Sequence[Source], int], Said]] = {
    "our rules": _ours,
    "cloudformation-validate": _validate,
    "cfn-lint": _cfn_lint,
}
"""The judges, in the order in which they are asked."""


def is_caught(defect: Defect, judge: str) -> bool:
    """Whether a judge says something about a template with a defect that it does not say about the good one."""
    return bool(said_of(defect.name, judge))


@functools.cache
def said_of(name: str, judge: str) -> Said:
    """What a judge says about a template with a defect, and not about the good one."""
    defect = next(each for each in DEFECTS if each.name == name)
    templates, number = good_templates(defect.base)
    bad = list(templates)
    body = with_defect(dict(templates[number].body), defect)
    bad[number] = Source(name=templates[number].name, body=body, region=REGION)
    return JUDGES[judge](bad, number) - _of_good(defect.base, judge)


@functools.cache
def _of_good(base: str, judge: str) -> Said:
    return JUDGES[judge](*good_templates(base))


@functools.cache
def _engine() -> validator.Engine:
    return validator.CompositeEngine()
