"""Our template rules as a policy validation plugin of the CDK."""

import json
from collections.abc import Iterable, Mapping, MutableMapping
from importlib.metadata import version
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

import aws_cdk as cdk
import jsii
from constructs import IConstruct, IValidation

from ultracluster_checks import Source, check_templates
from ultracluster_checks.problem import Problem, finding_of
from ultracluster_checks.table import RECORDS, template_codes
from ultracluster_rules.findings import Finding
from ultracluster_rules.record import is_error

_RETAINED: Final = "UC5201"


@jsii.implements(cdk.IPolicyValidationPlugin)
class TemplateCheck:
    """The rules of `ultracluster validate` for templates, applied to all stacks of an app at every synthesis.

    Errors fail the synthesis; warnings are shown in its report. Add it to an app with
    ``cdk.Validations.of(app).add_plugins(TemplateCheck())``.
    """

    def __init__(self, *, skip: Mapping[str, str] | None = None) -> None:
        """Create the plugin.

        Args:
            skip: Codes to skip in the whole app, each with a reason. To skip a code for one resource, use its metadata
                (`ultracluster docs check`). Default: none.

        Raises:
            FindingsError: If a code is not a template rule, cannot be skipped, or has no reason (UC9509).
        """
        self._skip = dict(skip or {})
        check_templates([], skip=self._skip)

    @property
    def name(self) -> str:
        """Name of the plugin in the report."""
        return "ultracluster"

    @property
    def version(self) -> str:
        """Version of the rules."""
        return version("ultracluster")

    @property
    def rule_ids(self) -> list[str]:
        """Codes of the rules."""
        return sorted(template_codes() - self._skip.keys())

    def validate(self, context: cdk.IPolicyValidationContext) -> cdk.PolicyValidationPluginReport:
        """Validate the templates of an app.

        Args:
            context: Paths of the templates, from the CDK.
        """
        stacks = {stack.stack_construct_path: stack for stack in context.stack_templates}
        _CHECKED.setdefault(context.app_construct, set()).update(stacks)
        return self._report(_problems(stacks.values(), self._skip))

    def _report(self, found: Iterable[Problem]) -> cdk.PolicyValidationPluginReport:
        problems = [(problem, finding_of(problem)) for problem in found]
        return cdk.PolicyValidationPluginReport(
            success=not any(is_error(finding, RECORDS) for _, finding in problems),
            violations=[_violation(problem, finding) for problem, finding in problems],
            plugin_version=self.version,
        )


_CHECKED: Final[MutableMapping[IConstruct, set[str]]] = WeakKeyDictionary()
"""Construct paths of the stacks that a `TemplateCheck` of the app itself has checked, by app."""

_OWN: Final[MutableMapping[IConstruct, "_OwnCheck"]] = WeakKeyDictionary()


def check_template_of(scope: IConstruct) -> None:
    """Check the stack of a construct at each synthesis of its app, unless the app has a `TemplateCheck` for it."""
    app = scope.node.root
    if not cdk.App.is_app(app):
        return
    if app not in _OWN:
        _OWN[app] = own = _OwnCheck()
        scope.node.add_validation(_Late(app, own))
    _OWN[app].add(cdk.Stack.of(scope))


@jsii.implements(IValidation)
class _Late:
    """Adds the check when the app is validated, so that it runs after each `TemplateCheck` that the app added."""

    def __init__(self, app: IConstruct, check: "_OwnCheck") -> None:
        self._app, self._check = app, check

    def validate(self) -> list[str]:
        """Return no errors: templates do not exist yet."""
        cdk.Validations.of(self._app).add_plugins(self._check)
        return []


@jsii.implements(cdk.IPolicyValidationPlugin)
class _OwnCheck(TemplateCheck):
    """The check of the stacks that hold our constructs, those of one stage together."""

    def __init__(self) -> None:
        super().__init__()
        self._stages: dict[str, set[str]] = {}
        self._known: set[cdk.Stack] = set()

    def add(self, stack: cdk.Stack) -> None:
        """Add a stack; that of a nested one stands for it."""
        if stack not in self._known:
            self._known.add(stack)
            while stack.nested_stack_parent is not None:
                stack = stack.nested_stack_parent
            stage = cdk.Stage.of(stack)
            self._stages.setdefault(stage.node.path if stage else "", set()).add(stack.node.path)

    def validate(self, context: cdk.IPolicyValidationContext) -> cdk.PolicyValidationPluginReport:
        """Validate the templates of an app.

        Args:
            context: Paths of the templates, from the CDK.
        """
        checked = _CHECKED.get(context.app_construct, set())
        stacks = {stack.stack_construct_path: stack for stack in context.stack_templates}
        return self._report(
            problem
            for paths in self._stages.values()
            for problem in _problems([stacks[path] for path in sorted(paths - checked)], {})
            # The app said so: the CDK writes no policy of its own accord that deletes.
            if problem.finding.code != _RETAINED or problem.place.text != "Delete"
        )


def _problems(stacks: Iterable[cdk.PolicyValidationStack], skip: Mapping[str, str]) -> Iterable[Problem]:
    sources = [
        Source(
            name=stack.template_path,
            body=json.loads(Path(stack.template_path).read_text(encoding="utf-8")),
            region=stack.region,
        )
        for stack in stacks
    ]
    return check_templates(sources, skip=skip).problems


def _violation(problem: Problem, finding: Finding) -> cdk.PolicyViolation:
    fix = " ".join(
        part for part in (finding.allowed and f"Allowed: {finding.allowed}.", finding.remedy) if part
    )
    record = RECORDS[finding.code]
    return cdk.PolicyViolation(
        rule_name=finding.code,
        description=finding.problem,
        fix=fix or None,
        # The CDK lets an acknowledgment hide all but what is fatal.
        severity="fatal" if record.never_left_out else record.severity,
        violating_resources=[
            cdk.PolicyViolatingResource(
                resource_logical_id=problem.place.resource.logical_id,
                template_path=problem.place.resource.template.source.name,
                locations=["/".join(map(str, problem.place.path))],
            )
        ],
    )
