"""Repetition of a case on the local AWS."""

import ast
import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from botocore.exceptions import ClientError
from tests.field.case import Case

from ultracluster_local import LocalAws

__all__ = ["AGREED", "DISAGREED", "MARKED", "Outcome", "run"]

AGREED: Final = "agreed"
DISAGREED: Final = "disagreed"
MARKED: Final = "marked"

_REGION: Final = "us-east-1"
_STACK: Final = "field"
_CAPABILITIES: Final = ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]


@dataclass(frozen=True)
class Outcome:
    """How the local AWS answered.

    Attributes:
        verdict: ``agreed``, ``marked`` or ``disagreed``.
        said: What it did, or why the case is not simulated.
    """

    verdict: str
    said: str


class _StackFailedError(Exception):
    """A stack that failed, with the reasons that its events give."""


class _DiffersError(Exception):
    """An answer that is not AWS's."""


def _equal(got: Any, wanted: Any) -> None:
    """Compare an answer with AWS's, for calls.py."""
    if got != wanted:
        raise _DiffersError(f"{got!r} instead of {wanted!r}")


@dataclass
class _Session:
    local: LocalAws
    names: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = {
            "client": self.client,
            "wait": self.check,
            "failed": self.check,
            "equal": _equal,
            "local": self.local,
            "REGION": _REGION,
        }

    def client(self, service: str) -> Any:
        """Return a boto3 client, as calls.py asks for it."""
        return self.local.client(service, _REGION)

    @property
    def stacks(self) -> Any:
        return self.client("cloudformation")

    def create(self, text: str) -> str:
        """Create the stack of the case; return why AWS refused it, or nothing."""
        parameters = {"StackName": _STACK, "TemplateBody": text, "Capabilities": _CAPABILITIES}
        return self._deploy("create_stack", parameters)

    def update(self, text: str) -> str:
        """Update it."""
        parameters = {"StackName": _STACK, "TemplateBody": text, "Capabilities": _CAPABILITIES}
        return self._deploy("update_stack", parameters)

    def delete(self) -> str:
        """Delete it."""
        stack_id = self.stacks.describe_stacks(StackName=_STACK)["Stacks"][0]["StackId"]
        return self._deploy("delete_stack", {"StackName": stack_id})

    def _deploy(self, operation: str, parameters: Mapping[str, Any]) -> str:
        try:
            getattr(self.stacks, operation)(**parameters)
            self.check(parameters["StackName"])
        except (ClientError, _StackFailedError) as error:
            return str(error)
        return ""

    def check(self, stack: str) -> None:
        """Raise an error if the last deployment of `stack` failed; the local AWS ends it before it answers."""
        status = self.stacks.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"]
        if status not in {"CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_COMPLETE"}:
            events = self.stacks.describe_stack_events(StackName=stack)["StackEvents"]
            said = [
                one.get("ResourceStatusReason", "") for one in events if "FAILED" in one["ResourceStatus"]
            ]
            said += [
                one.get("ResourceStatusReason", "") for one in events if "ROLLBACK" in one["ResourceStatus"]
            ]
            raise _StackFailedError(f"{status}: {'; '.join(filter(None, said))}")

    def physical_id(self, logical_id: str) -> str:
        """Return the physical ID of a resource of the stack."""
        detail = self.stacks.describe_stack_resource(StackName=_STACK, LogicalResourceId=logical_id)
        return str(detail["StackResourceDetail"]["PhysicalResourceId"])

    def prepare(self, expression: str) -> None:
        """Evaluate an expression of case.toml."""
        eval(expression, self.names)  # noqa: S307 - a file of this folder


def run(case: Case, local: LocalAws) -> Outcome:
    """Repeat `case` on an empty local AWS.

    Args:
        case: Case to repeat.
        local: Local AWS, which is reset.
    """
    if case.expect == "none":
        return Outcome(MARKED, case.note)
    files = ("calls.py",) if case.expect.startswith("calls_") else ("template.yaml",)
    if absent := [name for name in files if not case.has(name)]:
        return Outcome(DISAGREED, f"{absent[0]} is missing")
    local.reset()
    session = _Session(local)
    if case.expect.startswith("calls_"):
        wrong, said = _run_calls(case, session)
    else:
        wrong, said = _run_templates(case, session)
        if not wrong and case.has("good.yaml"):
            local.reset()
            refused = _Session(local).create(case.text("good.yaml"))
            wrong, said = bool(refused), f"good.yaml: {refused}" if refused else said
    return Outcome(DISAGREED if wrong else AGREED, said)


def _run_calls(case: Case, session: _Session) -> tuple[bool, str]:
    source = case.text("calls.py")
    path = str(case.folder / "calls.py")
    for name in case.preamble:
        shared = (case.folder.parent / f"{name}.py").read_text("utf-8")
        exec(shared, session.names)  # noqa: S102 - a file of this folder
    try:
        exec(compile(source, path, "exec"), session.names)  # noqa: S102 - a file of this folder
    except _DiffersError as error:
        return True, str(error)
    except (ClientError, _StackFailedError) as error:
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path
        ]
        if lines[0] < ast.parse(source).body[-1].lineno:
            return True, f"line {lines[0]}, not the last statement: {error}"
        code = error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
        agrees = case.expect == "calls_refused" and _fits(case, str(error)) and case.code in {"", code}
        return not agrees, str(error)
    return case.expect == "calls_refused", "accepted"


def _run_templates(case: Case, session: _Session) -> tuple[bool, str]:
    after = case.before.startswith("AFTER ")
    if case.before and not after:
        session.prepare(case.before)
    refused = session.create(case.text("template.yaml"))
    if case.expect == "create_refused":
        return not _fits(case, refused), refused or "accepted"
    if refused:
        return True, refused
    if after:
        session.prepare(case.before.removeprefix("AFTER "))
    if case.expect == "delete_refused":
        refused = session.delete()
        return not _fits(case, refused), refused or "deleted"
    if case.expect.startswith("update_"):
        return _update(case, session)
    return False, "accepted"


def _update(case: Case, session: _Session) -> tuple[bool, str]:
    before = session.physical_id(case.resource) if case.resource else ""
    refused = session.update(case.text("template_2.yaml"))
    if case.expect == "update_refused":
        return not _fits(case, refused), refused or "updated"
    if refused:
        return True, refused
    replaced = session.physical_id(case.resource) != before
    return replaced != (case.expect == "update_replaces"), "replaced" if replaced else "updated in place"


def _fits(case: Case, message: str) -> bool:
    return bool(message and re.search(case.matches, message))
