"""Our template rules as a policy validation plugin of the CDK."""

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import aws_cdk as cdk
import jsii

from ultracluster._foundation.synthesis_check import leave_unchecked
from ultracluster_checks import Source, check_templates
from ultracluster_checks.problem import Problem
from ultracluster_checks.table import RECORDS, template_codes
from ultracluster_spec.findings import Finding


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
        leave_unchecked(
            context.app_construct, {each.stack_construct_path for each in context.stack_templates}
        )
        sources = [
            Source(
                name=stack.template_path,
                body=json.loads(Path(stack.template_path).read_text(encoding="utf-8")),
                region=stack.region,
            )
            for stack in context.stack_templates
        ]
        report = check_templates(sources, skip=self._skip)
        return cdk.PolicyValidationPluginReport(
            success=not report.errors,
            violations=[
                _violation(problem, finding)
                for problem, finding in zip(report.problems, report.findings, strict=True)
            ],
            plugin_version=self.version,
        )


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
