"""Validate CloudFormation templates, for `ultracluster validate`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from ultracluster_checks import CheckReport, check_templates
from ultracluster_checks.problem import refuse_skip
from ultracluster_checks.table import RECORDS
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.output import echo, print_findings, print_json
from ultracluster_spec.findings import Finding, quote, reject
from ultracluster_spec.names import REGION
from ultracluster_stacks.check import read_templates


def validate_templates(
    templates: Sequence[Path], *, region: str | None, skip: Sequence[str], as_json: bool
) -> None:
    """Check templates, and print what is wrong with them."""
    region_findings = [] if region is None else REGION.check(region, path="--region")
    skips, skip_findings = _skips(skip)
    reject([*region_findings, *skip_findings])
    sources = read_templates(templates, region=region)
    report = check_templates(sources, skip=skips)
    if as_json:
        print_json(**_as_json(report))
        if report.errors:
            raise typer.Exit(ExitCode.FINDINGS)
        return
    errors = report.errors
    print_findings(finding for finding in report.findings if finding not in errors)
    for skipped in report.left_out:
        echo(f"skipped: {skipped.finding} Reason: {skipped.reason}")
    reject(errors)
    echo(f"{len(sources)} {'template' if len(sources) == 1 else 'templates'}: no errors")


def _skips(arguments: Sequence[str]) -> tuple[dict[str, str], list[Finding]]:
    skips: dict[str, str] = {}
    findings = []
    for text in arguments:
        code, _, reason = text.partition("=")
        if not reason.strip():
            problem = f"got {quote(text)}"
            findings.append(refuse_skip(problem, "CODE=REASON", path="--skip"))
        skips[code.strip()] = reason.strip()
    return skips, findings


def _as_json(report: CheckReport) -> dict[str, Any]:
    findings = [
        {
            "code": finding.code,
            "severity": RECORDS[finding.code].severity,
            "location": finding.location,
            "logical_id": problem.place.resource.logical_id,
            "path": finding.path,
            "problem": finding.problem,
            "allowed": finding.allowed,
            "remedy": finding.remedy,
        }
        for problem, finding in zip(report.problems, report.findings, strict=True)
    ]
    skipped = [
        {
            "code": skipped_finding.finding.code,
            "location": skipped_finding.finding.location,
            "path": skipped_finding.finding.path,
            "reason": skipped_finding.reason,
        }
        for skipped_finding in report.left_out
    ]
    return {"findings": findings, "left_out": skipped}
