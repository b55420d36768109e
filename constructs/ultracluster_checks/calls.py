"""Calls of AWS that code, scripts and schedules of templates spell out, and the roles that must allow them."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ultracluster_checks.codes import ALLOWED_CALLS, CALLING, RUNNING
from ultracluster_checks.jobs import job_containers
from ultracluster_checks.model.nodes import COMPUTE_ENVIRONMENT, NODE_GROUP, QUEUE, nodes_of
from ultracluster_checks.model.permissions import may, role_behind, role_of
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.problem import Problem, Wrong, rule
from ultracluster_checks.workers import FUNCTION, SCHEDULE
from ultracluster_rules.findings import quote

_LONGEST_CODE: Final = 65_536
# Names of services in the SDK, with their prefix in IAM where it is another one. Service Authorization Reference (2026-11).
_PREFIXES: Final = {"stepfunctions": "states", "sfn": "states"} | {
    name: name
    for name in ("autoscaling", "batch", "cloudwatch", "codebuild", "dynamodb", "ec2", "ecs", "eks", "events", "fsx", "imagebuilder", "lambda", "logs", "s3", "sagemaker", "scheduler", "secretsmanager", "sns", "sqs", "ssm")
}  # fmt: skip
# Methods and commands whose action has another name.
_ACTIONS: Final = {
    "lambda:Invoke": "lambda:InvokeFunction",
    "s3:CopyObject": "s3:PutObject",
    "s3:DownloadFile": "s3:GetObject",
    "s3:DownloadFileobj": "s3:GetObject",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:HeadObject": "s3:GetObject",
    "s3:ListObjects": "s3:ListBucket",
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:Ls": "s3:ListBucket",
    "s3:UploadFile": "s3:PutObject",
    "s3:UploadFileobj": "s3:PutObject",
    "sns:PublishBatch": "sns:Publish",
    "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
    "sqs:SendMessageBatch": "sqs:SendMessage",
}
_OF_OBJECTS: Final = {"s3:DeleteObject", "s3:GetObject", "s3:ListBucket", "s3:PutObject"}
_NO_CALLS: Final = re.compile(r"(?i)(?:can_?paginate|close|exceptions|generate.*|get_?paginator|get_?waiter|meta|transact.*|wait|mb|rb|re_?encrypt)$")  # fmt: skip
_COMMAND: Final = re.compile(r"(?:^|[\s;&|$(`\"'])aws\s+(?:--?[\w-]+[ =]\S+\s+)*([a-z0-9]+)\s+([a-z][a-z0-9-]+)([^\n;&|]*)")  # fmt: skip
_CALL: Final = re.compile(r":(?:aws-sdk:)?(batch|ec2|ecs|eks|sns|sqs|lambda|sfn|autoscaling|sagemaker|codebuild|fsx):([a-z]\w+)$")  # fmt: skip


@lru_cache(maxsize=64)
def _module(code: str) -> ast.Module | None:
    """Return the syntax tree of inline code in Python; None if it has none.

    Raises:
        SyntaxError: If Python cannot read it.
    """
    try:
        return ast.parse(code) if len(code) <= _LONGEST_CODE else None
    except (RecursionError, MemoryError, ValueError):
        return None


def _python(function: Resource) -> ast.Module | None:
    code, runtime = function["Code"]["ZipFile"].text, function["Runtime"].text or ""
    return _module(code) if code is not None and runtime.startswith("python") else None


@rule(RUNNING, FUNCTION)
def inline_code_runs(function: Resource) -> Iterator[Wrong]:
    """Find inline code that Python cannot read, without its handler, or that reads variables which are not set.

    AWS Lambda developer guide, Python handlers and errors of invocations (2026-11): each invocation fails with
    Runtime.UserCodeSyntaxError, Runtime.HandlerNotFound or a KeyError.
    """
    try:
        module = _python(function)
    except SyntaxError as error:
        at = function["Code"]["ZipFile"]
        yield at, f"Python cannot read line {error.lineno}, so that every invocation fails", "valid code"
        return
    if module is None:
        return
    file, _, name = (function["Handler"].text or "").partition(".")
    bound = {each.id for each in ast.walk(module) if isinstance(each, ast.Name)}
    bound |= {each.name for each in module.body if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    imported = any(isinstance(each, ast.ImportFrom) for each in module.body)
    written = any(isinstance(each, ast.FunctionDef | ast.Lambda) for each in ast.walk(module))
    if file == "index" and name and written and name not in bound and not imported:
        yield (
            function["Handler"],
            f"got {quote(f'{file}.{name}')}, and the code has no {name}",
            "its function",
        )
    given = function["Environment"]["Variables"]
    if given.unknown or function["Environment"].unknown:
        return
    caught = any(isinstance(each, ast.Try) for each in ast.walk(module))
    for name in () if caught else _read_variables(module):
        if given[name].missing and not name.startswith(("AWS_", "_")):
            yield given, f"the code reads {name}, which is not set: every invocation fails", name


def _read_variables(module: ast.Module) -> list[str]:
    """Return the environment variables that code cannot do without."""
    found: dict[str, list[type[ast.expr_context]]] = {}
    for each in ast.walk(module):
        if not isinstance(each, ast.Subscript) or not isinstance(each.slice, ast.Constant):
            continue
        of = getattr(each.value, "attr", None) or getattr(each.value, "id", None)
        if of == "environ" and isinstance(each.slice.value, str):
            found.setdefault(each.slice.value, []).append(type(each.ctx))
    return [name for name, uses in found.items() if ast.Store not in uses]


def _called_by_code(module: ast.Module) -> Iterator[str]:
    """Return the actions of the calls of Boto3 clients."""
    clients: dict[str, str] = {}
    for each in ast.walk(module):
        for target, value in _assigned(each):
            if isinstance(target, ast.Name) and (service := _client(value)):
                clients[target.id] = service
    for each in ast.walk(module):
        if not isinstance(each, ast.Call) or not isinstance(each.func, ast.Attribute):
            continue
        of = each.func.value
        found = clients.get(of.id) if isinstance(of, ast.Name) else _client(of)
        name = each.func.attr
        if name == "get_paginator" and each.args and isinstance(each.args[0], ast.Constant):
            name = str(each.args[0].value)
        if found and (action := action_of(found, name)):
            yield action


def actions_of(function: Resource) -> list[str]:
    """Return the actions that the inline code of a function calls; empty if they are not known here."""
    try:
        module = _python(function)
    except SyntaxError:
        return []
    return list(_called_by_code(module)) if module is not None else []


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            both = (target.elts, node.value.elts) if several else ([target], [node.value])  # type: ignore[attr-defined]
            yield from zip(*both, strict=False)


def _client(value: ast.expr) -> str | None:
    if not isinstance(value, ast.Call) or getattr(value.func, "attr", None) != "client" or not value.args:
        return None
    return str(value.args[0].value) if isinstance(value.args[0], ast.Constant) else None


def action_of(service: str, method: str) -> str | None:
    """Return the action of a method or command of a service; None if it is none, or not known here."""
    prefix = _PREFIXES.get(service)
    if prefix is None or _NO_CALLS.match(method):
        return None
    name = "".join(part[:1].upper() + part[1:] for part in re.split("[_-]", method))
    action = _ACTIONS.get(f"{prefix}:{name}", f"{prefix}:{name}")
    return action if prefix != "s3" or action in _OF_OBJECTS else None


def _called_by_script(text: str) -> Iterator[str]:
    """Return the actions of the commands of the AWS CLI in a script."""
    for service, command, rest in _COMMAND.findall(text):
        words = [word.strip("\"'") for word in rest.split()]
        if service == "s3" and command in {"cp", "mv", "sync"}:
            if words and words[0].startswith("s3://"):
                yield "s3:GetObject"
            elif words and words[-1].startswith("s3://"):
                yield "s3:PutObject"
        elif not command.startswith("wait") and (action := action_of(service, command)):
            yield action


@rule()
def calls_are_allowed(templates: Templates) -> Iterator[Wrong]:
    """Find code, scripts and schedules that call an API which their role does not allow."""
    for at, role, actions in _callers(templates):
        if role is not None and (lacking := [each for each in dict.fromkeys(actions) if not may(role, each)]):
            got = (
                f"{role.logical_id} does not allow {', '.join(lacking)}, which {at.resource.logical_id} calls"
            )
            yield Problem.of(at, ALLOWED_CALLS, got, ", ".join(lacking))


def _callers(templates: Templates) -> Iterator[tuple[Property, Resource | None, list[str]]]:
    for function in templates.of_type(FUNCTION):
        yield function["Role"], role_of(function["Role"]), actions_of(function)
    for nodes in nodes_of(templates):
        profile = nodes.data["IamInstanceProfile"]
        places = (profile["Arn"], profile["Name"], nodes.settings["InstanceRole"], nodes.settings["NodeRole"])
        role = next((role for each in places if (role := role_behind(each)) is not None), None)
        yield nodes.data["UserData"], role, list(_called_by_script(nodes.data["UserData"].pattern))
    for container in job_containers(templates):
        command = container.at["Command"]
        text = " ".join(each.pattern for each in command.items)
        yield command, role_of(container.at["JobRoleArn"]), list(_called_by_script(text))


@rule(CALLING, SCHEDULE)
def schedules_may_call(schedule: Resource) -> Iterator[Wrong]:
    """Find schedules that call an API which their role does not allow, on what they name."""
    at, told = schedule["Target"]["RoleArn"], schedule["Target"]["Input"]
    found, role = _CALL.search(schedule["Target"]["Arn"].pattern), role_of(at)
    action = action_of(found[1], found[2]) if found else None
    kinds = {QUEUE, COMPUTE_ENVIRONMENT, NODE_GROUP}
    named: list[Resource | None] = [each for each in told.targets if each.type in kinds]
    for on in named or [None]:
        if role is not None and action and not may(role, action, on):
            got = f"{role.logical_id} does not allow {action}{f' on {on.logical_id}' if on else ''}"
            yield at, got, f"{action} on what {schedule.logical_id} names"
