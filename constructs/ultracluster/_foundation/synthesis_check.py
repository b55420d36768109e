"""The rules of templates, asked at each synthesis of an app about the stacks that hold our constructs."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import aws_cdk as cdk
from constructs import IConstruct

from ultracluster_spec.findings import Finding, FindingsError, is_token
from ultracluster_spec.record import is_error

if TYPE_CHECKING:
    from ultracluster_checks.problem import Problem

_ACKNOWLEDGED: Final = "aws:cdk:acknowledged-rules"
"""Metadata that `Validations.acknowledge` writes (aws-cdk-lib 2.275.0, core/lib/validation/validations.ts)."""


@dataclass(slots=True)
class _Stacks:
    """The stacks of an app that hold our constructs, and the paths of those that a `TemplateCheck` of the app has checked.

    `warn` takes the warnings.
    """

    warn: Callable[[list[Finding]], object]
    ours: dict[cdk.Stack, None] = field(default_factory=dict)
    checked: set[str] = field(default_factory=set)


_STACKS: Final[WeakKeyDictionary[IConstruct, _Stacks]] = WeakKeyDictionary()


def check_at_synthesis(scope: IConstruct) -> None:
    """Check the template of a construct's stack whenever its app is synthesized.

    A policy-validation plugin would end the synthesis with a traceback of jsii, and has the CDK write a report of its own.
    """
    app = scope.node.root
    if isinstance(app, cdk.Stage):
        if app not in _STACKS:
            give_warnings(app, _show)
        _STACKS[app].ours[cdk.Stack.of(scope)] = None


def give_warnings(app: cdk.Stage, warn: Callable[[list[Finding]], object]) -> None:
    """Check an app at its synthesis, and pass the warnings to `warn`; to be called before the app has any of our constructs."""
    _STACKS[app] = _Stacks(warn)
    app.synth = _checked(app, app.synth)  # type: ignore[method-assign]


def leave_unchecked(app: IConstruct, paths: set[str]) -> None:
    """Check no stacks that a plugin of the app has checked, with what it skips, or that break rules on purpose."""
    if app in _STACKS:
        _STACKS[app].checked |= paths


def _checked(app: cdk.Stage, synth: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(synth)
    def checked(**options: Any) -> Any:
        assembly = synth(**options)
        if not options.get("skip_validation"):
            _report(app)
        return assembly

    return checked


def _report(app: cdk.Stage) -> None:
    from ultracluster_checks.table import RECORDS  # noqa: PLC0415 - only where templates are written

    found = list(_findings(app))
    if errors := [finding for finding, only_warns in found if is_error(finding, RECORDS) and not only_warns]:
        raise FindingsError(errors)
    _STACKS[app].warn([finding for finding, _ in found])


def _show(warnings: list[Finding]) -> None:
    """Print warnings as the CDK CLI prints those of constructs."""
    for finding in warnings:
        shown, at = finding.at(finding.path), finding.location
        sys.stderr.write(f"[Warning at /{at}] {shown} [ack: ultracluster:{finding.code}]\n")


def _findings(app: cdk.Stage) -> Iterator[tuple[Finding, bool]]:
    """Return what is wrong, each with whether it only warns."""
    stages: dict[Path, dict[str, cdk.Stack]] = {}
    for stack in _STACKS[app].ours:
        root = stack
        while root.nested_stack_parent is not None:
            root = root.nested_stack_parent
        stage = cdk.Stage.of(stack)
        if stage is not None and root.node.path not in _STACKS[app].checked:
            stages.setdefault(Path(stage.outdir), {})[stack.template_file] = stack
    for folder, stacks in stages.items():
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        if not manifest.get(
            "missing"
        ):  # with values in place of a lookup, after which the CLI synthesizes again
            yield from _findings_of_stage(folder, stacks)


def _findings_of_stage(folder: Path, stacks: dict[str, cdk.Stack]) -> Iterator[tuple[Finding, bool]]:
    """Return what is wrong in the stacks of a stage, with what other stacks of it add to them."""
    from ultracluster_checks import Source, check_templates  # noqa: PLC0415 - only where templates are written
    from ultracluster_checks.codes import RETAINED  # noqa: PLC0415 - as above
    from ultracluster_checks.table import RECORDS  # noqa: PLC0415 - as above

    sources = []
    for path in sorted(folder.glob("*.template.json")):
        text, stack = path.read_text(encoding="utf-8"), stacks.get(path.name)
        if stack is not None or "Fn::ImportValue" in text:
            region = stack.region if stack is not None else None
            known = None if is_token(region) else region
            sources.append(Source(name=path.name, body=json.loads(text), region=known))
    # What a construct warns of is not said again.
    told = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.metadata.json"))
    for problem in check_templates(sources).problems:
        stack = stacks.get(problem.place.resource.template.source.name)
        said = f'"{problem.finding.code}: ' in told and not is_error(problem.finding, RECORDS)
        # The app said so: the CDK writes no policy of its own accord that deletes.
        asked = problem.finding.code == RETAINED and problem.place.text == "Delete"
        if stack is not None and not said and not asked:
            yield from _of_construct(problem, stack)


def _of_construct(problem: "Problem", stack: cdk.Stack) -> Iterator[tuple[Finding, bool]]:
    """Return a finding with the path of its construct, unless that or one around it acknowledges the code.

    What the CDK writes for other purposes only warns.
    """
    from ultracluster_checks.codes import OF_ANY_STACK  # noqa: PLC0415 - only where templates are written
    from ultracluster_checks.model.nodes import nodes_of  # noqa: PLC0415 - as above
    from ultracluster_checks.problem import finding_of  # noqa: PLC0415 - as above
    from ultracluster_checks.table import RECORDS  # noqa: PLC0415 - as above

    logical_id, _, path = str(problem.place).partition(".")
    construct: IConstruct | None = next(
        (
            element
            for element in stack.node.find_all()
            if isinstance(element, cdk.CfnElement)
            and element.stack is stack
            and stack.resolve(element.logical_id) == logical_id
        ),
        stack,
    )
    code, at = problem.finding.code, construct.node.path if construct else ""
    resource = problem.place.resource
    of_nodes = any(resource in (nodes.groups or ()) for nodes in nodes_of(resource.template.templates))
    only_warns = code in OF_ANY_STACK and not of_nodes and not _is_ours(construct)
    while construct is not None:
        acknowledged = [each.data for each in construct.node.metadata if each.type == _ACKNOWLEDGED]
        named = any(name.endswith(f":{code}") for each in acknowledged for name in each)
        if named and (only_warns or not RECORDS[code].never_left_out):
            return
        construct = construct.node.scope
    yield replace(finding_of(problem), location=at, path=path), only_warns


def _is_ours(construct: IConstruct | None) -> bool:
    """Return whether a construct is one of ours, or a part of one."""
    scopes = construct.node.scopes if construct else []
    classes = (each for scope in scopes for each in type(scope).__mro__)
    return any(each.__module__.partition(".")[0] == "ultracluster" for each in classes)
