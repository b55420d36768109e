"""`ultracluster check`: check any CloudFormation templates, without AWS and without the CDK."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ultracluster_checks import check_templates
from ultracluster_checks.check import CheckReport, refuse_skip
from ultracluster_cli.exit_codes import ExitCode
from ultracluster_cli.options import JsonOption
from ultracluster_cli.output import print_findings, print_json, say
from ultracluster_rules.findings import Finding, FindingsError, quote
from ultracluster_rules.names import REGION
from ultracluster_stacks.check import read_templates

__all__ = ["app", "check"]

app = typer.Typer(add_completion=False)


@app.command()
def check(
    templates: Annotated[
        list[Path],
        typer.Argument(
            metavar="TEMPLATE...", help="Templates in JSON or YAML, and cloud assemblies such as cdk.out."
        ),
    ],
    *,
    region: Annotated[
        str | None,
        typer.Option(
            help="Region that the templates are deployed to. Default: what an assembly says; of a file it is not known."
        ),
    ] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE=REASON", help="Leave out a rule, for a reason. May be repeated."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check CloudFormation templates for waste, data loss and open access.

    Templates given together are checked together: what one exports is known where another imports it. Warnings do not
    change the exit code.
    """
    wrong = _check_region(region)
    skips, wrong_skips = _skips(skip or [])
    if wrong or wrong_skips:
        raise FindingsError([*wrong, *wrong_skips])
    sources = read_templates(templates, region=region)
    report = check_templates(sources, skip=skips)
    if as_json:
        print_json(_as_json(report))
        if report.errors:
            raise typer.Exit(ExitCode.FINDINGS)
        return
    errors = report.errors
    print_findings(finding for finding in report.findings if finding not in errors)
    for left_out in report.left_out:
        say(f"left out: {left_out.finding} Reason: {left_out.reason}")
    if errors:
        raise FindingsError(errors)
    say(f"{len(sources)} {'template' if len(sources) == 1 else 'templates'}: nothing breaks a rule")


def _check_region(region: str | None) -> list[Finding]:
    return [] if region is None else REGION.check(region, path="--region")


def _skips(given: Sequence[str]) -> tuple[dict[str, str], list[Finding]]:
    skips: dict[str, str] = {}
    findings = []
    for text in given:
        code, _, reason = text.partition("=")
        if not reason.strip():
            problem = f"got {quote(text)}"
            findings.append(refuse_skip(problem, "CODE=REASON", path="--skip"))
        skips[code.strip()] = reason.strip()
    return skips, findings


def _as_json(report: CheckReport) -> dict[str, Any]:
    found = [
        {
            "code": finding.code,
            "severity": finding.severity.value,
            "location": finding.location,
            "logical_id": problem.at.resource.logical_id,
            "path": finding.path,
            "problem": finding.problem,
            "allowed": finding.allowed,
            "remedy": finding.remedy,
        }
        for problem, finding in zip(report.problems, report.findings, strict=True)
    ]
    left_out = [
        {
            "code": each.finding.code,
            "location": each.finding.location,
            "path": each.finding.path,
            "reason": each.reason,
        }
        for each in report.left_out
    ]
    return {"findings": found, "left_out": left_out}
