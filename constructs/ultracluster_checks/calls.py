"""Calls of AWS that code, scripts and schedules of templates spell out, and the roles that must allow them."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, TypeGuard

from ultracluster_checks.codes import ALLOWED_CALLS, CALLING, RUNNING
from ultracluster_checks.jobs import job_containers
from ultracluster_checks.model.nodes import COMPUTE_ENVIRONMENT, EVENT_RULE, NODE_GROUP, QUEUE, nodes_of
from ultracluster_checks.model.permissions import lets_invoke, may, role_behind, role_of
from ultracluster_checks.model.template import Property, Resource, Templates
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.workers import FUNCTION, MACHINE, SCHEDULE, targets_of, worker_at
from ultracluster_rules.findings import quote

# Actions by which EventBridge calls targets, by type and by a part of the ARN.
# https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-identity-based.html (2026-11)
_STARTED: Final = {
    FUNCTION: "lambda:InvokeFunction",
    MACHINE: "states:StartExecution",
    QUEUE: "batch:SubmitJob",
    "AWS::CodeBuild::Project": "codebuild:StartBuild",
    "AWS::CodePipeline::Pipeline": "codepipeline:StartPipelineExecution",
    "AWS::ECS::Cluster": "ecs:RunTask",
    "AWS::SNS::Topic": "sns:Publish",
    "AWS::SQS::Queue": "sqs:SendMessage",
}
_STARTED_BY_NAME: Final = {
    ":automation-definition/": "ssm:StartAutomationExecution",
    ":document/": "ssm:SendCommand",
}
_BY_POLICY: Final = {"lambda:InvokeFunction", "sns:Publish", "sqs:SendMessage"}  # of the target itself
_LONGEST_CODE: Final = 65_536
_WITHOUT_SDK_2: Final = 18  # Node.js
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
_CALL: Final = re.compile(r":(?:aws-sdk:)?(batch|ec2|ecs|eks|sns|sqs|ssm|lambda|sfn|autoscaling|sagemaker|codebuild|fsx):([a-z]\w+)$")  # fmt: skip


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
        got = f"got {quote(f'{file}.{name}')}, and the code has no {name}"
        yield function["Handler"], got, "its function"
    variables = function["Environment"]["Variables"]
    caught = any(isinstance(each, ast.Try) for each in ast.walk(module))
    for name in () if caught or variables.unknown else _read_variables(module):
        if variables[name].missing and not name.startswith(("AWS_", "_")):
            yield variables, f"the code reads {name}, which is not set: every invocation fails", name


@rule(RUNNING, FUNCTION)
def inline_scripts_run(function: Resource) -> Iterator[Wrong]:
    """Find inline code in JavaScript without its handler, with an SDK that Lambda does not have, or that ends before its calls.

    AWS Lambda developer guide, Node.js (2026-11): from Node.js 18 on the runtime has version 3 of the SDK only, and a
    handler that returns does not wait for promises.
    """
    at, runtime = function["Code"]["ZipFile"], re.fullmatch(r"nodejs(\d+)\.x", function["Runtime"].text or "")
    name = _handler_of(function)
    if not at.pattern or runtime is None:
        return
    if not re.search(rf"exports\.{name}\b|export\b[^;]*\b{name}\b|exports\s*=[^;]*\b{name}\b", at.pattern):
        yield at, f"no {name} is exported, and the handler is {function['Handler'].text}", f"exports.{name}"
    if int(runtime[1]) >= _WITHOUT_SDK_2 and re.search(r"(?:require\(|from )[\"']aws-sdk[\"'/]", at.pattern):
        yield (
            at,
            f"{runtime[0]} has no aws-sdk, which is version 2",
            "the clients of version 3, such as @aws-sdk/client-batch",
        )
    if found := re.search(r"^[ \t]*\w+\.send\(\s*new (\w+)", at.pattern, re.MULTILINE):
        yield at, f"the handler may end before {found[1]} has been sent", "await"


@rule(RUNNING, FUNCTION)
def pauses_fit_the_timeout(function: Resource) -> Iterator[Wrong]:
    """Find inline code that sleeps for longer than its function may run."""
    at, most = function["Code"]["ZipFile"], function["Timeout"]
    longest = max(map(int, re.findall(r"\bsleep\((\d{1,6})\)", at.pattern)), default=0)
    if longest and longest >= (3 if most.missing else most.number or longest + 1):
        yield at, f"it sleeps for {longest} seconds, and its timeout is {most.number or 3}", "a shorter wait"


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


def detail_keys_of(function: Resource) -> set[str]:
    """Return the keys that inline code cannot do without in the detail of an event."""
    keys = [each.slice for each in ast.walk(_readable(function)) if _is_of_detail(each)]
    return {str(key.value) for key in keys if isinstance(key, ast.Constant)}


def event_keys_of(function: Resource) -> set[str]:
    """Return the keys that inline code cannot do without in its event: read by name, and never asked for."""
    module, name = _readable(function), _handler_of(function)
    handlers = [each for each in module.body if isinstance(each, ast.FunctionDef) and each.name == name]
    if (
        len(handlers) != 1
        or not handlers[0].args.args
        or any(isinstance(each, ast.Try) for each in ast.walk(module))
    ):
        return set()
    event, asked = handlers[0].args.args[0].arg, ast.unparse(module)
    choices = [each for each in ast.walk(handlers[0]) if isinstance(each, ast.BoolOp | ast.IfExp)]
    chosen = {id(part) for each in choices for part in ast.walk(each)}
    keys = {
        str(each.slice.value)
        for each in ast.walk(handlers[0])
        if isinstance(each, ast.Subscript)
        and isinstance(each.value, ast.Name)
        and each.value.id == event
        and isinstance(each.slice, ast.Constant)
        and isinstance(each.ctx, ast.Load)
        and id(each) not in chosen
    }
    return {key for key in keys if f"'{key}' in {event}" not in asked and f"{event}.get('{key}'" not in asked}


def swallowed_errors(function: Resource, method: str) -> Iterator[int]:
    """Return the lines at which inline code catches the errors of a method and does nothing but write them out."""
    for each in ast.walk(_readable(function)):
        called = isinstance(each, ast.Try) and any(f".{method}(" in ast.unparse(part) for part in each.body)
        for handler in each.handlers if isinstance(each, ast.Try) and called else ():
            wide = handler.type is None or ast.unparse(handler.type).rpartition(".")[2] in {
                "Exception",
                "ClientError",
            }
            idle = (ast.Pass, ast.Continue)
            texts = [
                isinstance(part, idle) or re.match(r"print\(|log\w*\.", ast.unparse(part))
                for part in handler.body
            ]
            if wide and all(texts):
                yield handler.lineno


def _is_of_detail(node: ast.AST) -> TypeGuard[ast.Subscript]:
    holder = node.value if isinstance(node, ast.Subscript) else None
    key = holder.slice if isinstance(holder, ast.Subscript) else None
    return isinstance(key, ast.Constant) and key.value == "detail"


def _called_by_code(module: ast.Module, handler: str) -> Iterator[str]:
    """Return the actions of the calls of Boto3 clients, without those of functions that nothing calls."""
    clients: dict[str, str] = {}
    named = {each.id for each in ast.walk(module) if isinstance(each, ast.Name)}
    unused = [
        each
        for each in module.body
        if isinstance(each, ast.FunctionDef) and each.name not in {*named, handler} and handler
    ]
    dead = {id(part) for each in unused for part in ast.walk(each)}
    for each in ast.walk(module):
        for target, value in _assigned(each):
            if isinstance(target, ast.Name) and (service := _client(value)):
                clients[target.id] = service
    for each in ast.walk(module):
        if not isinstance(each, ast.Call) or not isinstance(each.func, ast.Attribute) or id(each) in dead:
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
    if (function["Runtime"].text or "").startswith("nodejs"):
        return _called_by_javascript(function["Code"]["ZipFile"].pattern)
    return list(_called_by_code(_readable(function), _handler_of(function)))


def _called_by_javascript(code: str) -> list[str]:
    """Return the actions of the commands that code sends, if it has clients of one service."""
    services = re.findall(r"@aws-sdk/client-([\w-]+)", code)
    calls = re.findall(r"\bnew (\w+)Command\(|\bpaginate(\w+)\(", code) if len(services) == 1 else []
    return [action for name in calls if (action := action_of(services[0], "".join(name)))]


def _handler_of(function: Resource) -> str:
    """Return the name of the handler within its module."""
    return (function["Handler"].text or "").rpartition(".")[2]


def _readable(function: Resource) -> ast.Module:
    """Return the syntax tree of the inline code of a function; empty without code that Python can read."""
    try:
        return _python(function) or ast.parse("")
    except SyntaxError:
        return ast.parse("")


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


@rule(ALLOWED_CALLS)
def calls_are_allowed(templates: Templates) -> Iterator[Wrong]:
    """Find code, scripts and schedules that call an API which their role does not allow."""
    for at, role, actions in _callers(templates):
        if role is not None and (lacking := [each for each in dict.fromkeys(actions) if not may(role, each)]):
            names, caller = ", ".join(lacking), at.resource.logical_id
            yield at, f"{role.logical_id} does not allow {names}, which {caller} calls", names


def _callers(templates: Templates) -> Iterator[tuple[Property, Resource | None, list[str]]]:
    for function in templates.of_type(FUNCTION):
        yield function["Role"], role_of(function["Role"]), actions_of(function)
    for nodes in nodes_of(templates):
        profile = nodes.data["IamInstanceProfile"]
        places = (profile["Arn"], profile["Name"], nodes.settings["InstanceRole"], nodes.settings["NodeRole"])
        role = next((role for each in places if (role := role_behind(each)) is not None), None)
        yield nodes.data["UserData"], role, list(_called_by_script(nodes.data["UserData"].pattern))
    for document in templates.of_type("AWS::SSM::Document"):
        calls = [each["inputs"] for each in document["Content"]["mainSteps"].items]
        called = [action_of(each["Service"].text or "", each["Api"].text or "") for each in calls]
        role_at = document["Content"]["assumeRole"]
        yield role_at, role_of(role_at), [action for action in called if action]
    for container in job_containers(templates):
        command = container.at["Command"]
        text = " ".join(each.pattern for each in command.items)
        yield command, role_of(container.at["JobRoleArn"]), list(_called_by_script(text))


@rule(CALLING, EVENT_RULE, SCHEDULE)
def targets_may_be_called(source: Resource) -> Iterator[Wrong]:
    """Find rules and schedules that may not call their target, or not on what they name."""
    for target in targets_of(source):
        at, role, worker = target["RoleArn"], role_of(target["RoleArn"]), worker_at(target["Arn"])
        action, subjects = _call_of(target)
        by_role = source.type == SCHEDULE or not at.missing
        if worker is not None and worker.type == FUNCTION and not by_role:
            yield from _is_not_permitted(source, target["Arn"], worker)
        elif action and at.missing and action not in _BY_POLICY:
            yield at, f"no role, which EventBridge needs for {action}", f"a role that allows {action}"
        for subject in subjects if role is not None and action and by_role else ():
            if role is not None and not may(role, str(action), subject):
                got = f"{role.logical_id} does not allow {action}{f' on {subject.logical_id}' if subject else ''}"
                yield at, got, f"{action} on what {source.logical_id} names"
        for passed in roles_of_task(target["EcsParameters"]["TaskDefinitionArn"].target):
            if role is not None and not may(role, "iam:PassRole", passed):
                got = f"{role.logical_id} may not pass {passed.logical_id} to the task"
                yield at, got, "iam:PassRole on it"


def _call_of(target: Property) -> tuple[str | None, list[Resource | None]]:
    """Return the action by which EventBridge calls a target, and on what."""
    arn, request = target["Arn"], target["Input"]
    if call := _CALL.search(arn.pattern):
        kinds = {QUEUE, COMPUTE_ENVIRONMENT, NODE_GROUP}
        return action_of(call[1], call[2]), [each for each in request.targets if each.type in kinds] or [None]
    subject = worker_at(arn) or arn.target
    if subject is None:
        named = [action for part, action in _STARTED_BY_NAME.items() if part in arn.pattern]
        return (named[0] if named else None), [None]
    task = target["EcsParameters"]["TaskDefinitionArn"].target
    return _STARTED.get(subject.type), [task if subject.type == "AWS::ECS::Cluster" else subject]


def roles_of_task(task: Resource | None) -> list[Resource]:
    """Return the roles that a task definition of Amazon ECS hands to its tasks."""
    roles = [role_of(task[name]) for name in ("TaskRoleArn", "ExecutionRoleArn")] if task is not None else []
    return [role for role in roles if role is not None]


def _is_not_permitted(source: Resource, at: Property, function: Resource) -> Iterator[Wrong]:
    permissions = function.template.templates.of_type("AWS::Lambda::Permission")
    if not any(lets_invoke(each, "events.amazonaws.com", source, at) for each in permissions):
        got = f"no permission lets {source.logical_id} invoke {function.logical_id}: the function never runs, and no deployment fails"
        yield at, got, "AWS::Lambda::Permission for events.amazonaws.com, with the rule as SourceArn"
