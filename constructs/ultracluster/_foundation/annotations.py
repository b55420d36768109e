"""Warnings that the CDK shows at synthesis."""

from aws_cdk import Annotations
from constructs import Construct

from ultracluster_spec.findings import Finding


def warn(scope: Construct, *findings: Finding) -> None:
    """Attach findings to a construct as warnings, which can be acknowledged by their codes."""
    for finding in findings:
        Annotations.of(scope).add_warning_v2(f"ultracluster:{finding.code}", str(finding))
