"""What cdk-nag says of an app, and what was answered."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import cdk_nag
import pytest

from ultracluster import acknowledge_nag
from ultracluster.compliance.nag import acknowledgments_in

__all__ = ["Nagged", "nagged"]

Finding = tuple[str, str]
"""A rule, with what it found in brackets, and the path of the resource."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Nagged:
    """The findings of the packs AwsSolutions and Serverless.

    Attributes:
        assembly: The cloud assembly.
        unanswered: What nobody answered.
        answered: What was answered, with the id and the place of the answer, and the reason.
        given: Places and ids of all answers, whether they answer something or not.
    """

    assembly: Path
    unanswered: frozenset[Finding]
    answered: Mapping[Finding, tuple[str, str, str]]
    given: frozenset[tuple[str, str]]


def nagged(
    directory: Path,
    define: Callable[[cdk.App], None],
    packs: Sequence[type] = (cdk_nag.AwsSolutionsChecks, cdk_nag.ServerlessChecks),
) -> Nagged:
    """Synthesize an app as a user of cdk-nag does.

    Args:
        directory: Where the cloud assembly goes.
        define: Fills the app.
        packs: The packs of rules. Default: those whose findings we answer.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CDK_VALIDATION", "false")  # the CDK's own validator; plug-ins run
        app = cdk.App(
            analytics_reporting=False, outdir=str(directory), tree_metadata=False, stack_traces=False
        )
        cdk.Validations.of(app).add_plugins(*(pack(app) for pack in packs))
        acknowledge_nag(app)
        define(app)
        try:
            app.synth()
        except RuntimeError as error:
            if "ValidationFailed" not in str(error):
                raise
    reports = json.loads((directory / "validation-report.json").read_text())["pluginReports"]
    return Nagged(
        assembly=directory,
        unanswered=frozenset(found for each in reports for found, _ in _found(each.get("violations", ()))),
        answered={
            found: (one["acknowledgedId"], one["acknowledgedAt"], one["reason"])
            for each in reports
            for found, one in _found(each.get("suppressedViolations", ()))
        },
        given=frozenset((resource.node.path, answer.id) for resource, answer in acknowledgments_in(app)),
    )


def _found(violations: list[dict[str, Any]]) -> Iterator[tuple[Finding, dict[str, Any]]]:
    for violation in violations:
        for construct in violation["violatingConstructs"]:
            yield (violation["ruleName"], construct["constructPath"]), violation
