"""Programs other than ours that pages call: the CDK CLI and the AWS CLI, which answer from the local AWS, and Python."""

import io
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import aws_cdk
import botocore.session
import pytest
from botocore import xform_name
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws
from ultracluster_local.deploy import deploy_assembly

__all__ = ["AwsCli", "CdkCli", "python", "synthesize"]

_App = aws_cdk.App


def python(words: Sequence[str]) -> int:
    """Run a script in this process, or create an environment without pip, which no test runs."""
    if words[:2] == ["-m", "venv"]:
        venv.create(words[2])
        return 0
    try:
        _run(words)
    except ClientError as refused:  # with which a process of its own would end in 1
        print(refused, file=sys.stderr)  # noqa: T201 - as a traceback would be
        return 1
    return 0


def on_path(name: str, words: Sequence[str]) -> int:
    """Run a program that is installed beside this Python."""
    return subprocess.run([Path(sys.executable).with_name(name), *words], check=False).returncode


def _run(words: Sequence[str]) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", list(words))
        try:
            if words[0] == "-m":
                runpy.run_module(words[1], run_name="__main__")
            else:
                runpy.run_path(words[0], run_name="__main__")
        except SystemExit as end:
            return int(end.code or 0)
    return 0


def synthesize(
    folder: Path, output: Path, *, app: str | None = None, context: Sequence[str] = ()
) -> tuple[int, str]:
    """Run a CDK app of a folder in this process, where Node has started; return its exit code and what it says.

    The default app is that of cdk.json. Context values are words such as ``rollout=rollout.yaml``.
    """
    settings = json.loads((folder / "cdk.json").read_text())
    values = settings["context"] | dict(pair.split("=", 1) for pair in context)
    said = io.StringIO()
    aws_cdk.AssetStaging.clear_asset_hash_cache()  # which would know files of an output that is deleted
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CDK_OUTDIR", str(output))
        patch.setenv("CDK_CONTEXT_JSON", json.dumps(values))
        # Node does not see the variables of this process.
        patch.setattr(aws_cdk, "App", partial(_new_app, context=values, outdir=str(output)))
        patch.setattr(sys, "stderr", said)
        patch.chdir(folder)
        return _run(shlex.split(app or settings["app"])[1:]), said.getvalue()


def _new_app(**settings: Any) -> aws_cdk.App:
    return _App(**{"analytics_reporting": False} | settings)


_OF_OUR_APP = ("rollout", "wave", "purpose", "cache")


class CdkCli:
    """The CDK CLI, without Node."""

    def __init__(self, local: LocalAws) -> None:
        self._local = local

    def __call__(self, words: Sequence[str]) -> int:
        if words[0] == "bootstrap":  # the local AWS is
            return 0
        return self.deploy_app(Path.cwd(), *_options(words, "--app"))

    def run_logged(
        self,
        command: Sequence[str],
        *,
        directory: Path,
        environment: Mapping[str, str],
        log: Path,
        on_line: Callable[[str], None],
    ) -> int:
        """Answer a command of ours, in the place of `ultracluster_cli._cdk.child_process.run_logged`."""
        log.write_text("")
        if command[0] == "python3":  # our app, without the CDK CLI
            given = json.loads(environment["CDK_CONTEXT_JSON"])
            words = [f"{name}={given[name]}" for name in _OF_OUR_APP if name in given]
            return synthesize(directory, Path(environment["CDK_OUTDIR"]), context=words)[0]
        apps, outputs = _options(command, "--app"), _options(command, "--output")
        if apps and not outputs:
            return self.deploy(Path(apps[0]), stages=[word for word in command if word.endswith("/**")])
        code, said = synthesize(
            directory, Path(outputs[0]), app=next(iter(apps), None), context=_options(command, "--context")
        )
        for line in said.splitlines():
            on_line(line)
        return code or (self.deploy(Path(outputs[0])) if command[1] == "deploy" else 0)

    def deploy_app(self, folder: Path, app: str | None = None) -> int:
        """Synthesize an app of a folder, by default that of cdk.json, and deploy it."""
        output = folder / "cdk.out"
        shutil.rmtree(output, ignore_errors=True)
        code, said = synthesize(folder, output, app=app)
        sys.stderr.write(said)
        return code or self.deploy(output)

    def deploy(self, assembly: Path, *, stages: Sequence[str] = ()) -> int:
        """Deploy an assembly, or some of its stages."""
        folders = [assembly / f"assembly-{stage.removesuffix('/**')}" for stage in stages] or [assembly]
        results = [result for folder in folders for result in deploy_assembly(self._local, folder)]
        assert results
        assert [result for result in results if result.reason] == []
        return 0


class AwsCli:
    """The AWS CLI, which takes the parameters of the API."""

    def __init__(self, local: LocalAws) -> None:
        self._local = local

    def __call__(self, words: Sequence[str]) -> int:
        service, name, *rest = words
        if (service, name) == ("s3", "sync"):
            return self._sync(*rest)
        if (service, name) == ("cloudformation", "deploy"):
            return self._deploy(rest)
        model = botocore.session.get_session().get_service_model(service)
        operations = {xform_name(operation, "-"): operation for operation in model.operation_names}
        if name not in operations:
            return 252
        members = model.operation_model(operations[name]).input_shape.members
        names = {xform_name(member, "-"): member for member in members}
        request: dict[str, Any] = {}
        region = os.environ["AWS_REGION"]
        for option, values in re.findall(r"(?:^|\0)--([a-z-]+)((?:\0(?!--)[^\0]*)*)", "\0".join(rest)):
            texts = values.split("\0")[1:]
            if option in names:
                request[names[option]] = _typed(members[names[option]], texts)
            elif option == "region":
                (region,) = texts
        client = self._local.client(service, region)
        try:
            answer = getattr(client, xform_name(operations[name]))(**request)
        except client.exceptions.ClientError as error:
            sys.stderr.write(f"{error}\n")
            return 254
        if name == "get-console-output":  # moto starts no instance that could write to its console
            answer["Output"] = "ultracluster: refused to join the cluster: 15 of 16 Neuron devices\n"
        del answer["ResponseMetadata"]
        sys.stdout.write("\t".join(map(str, answer.values())) + "\n")
        return 0

    def _sync(self, folder: str, url: str) -> int:
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        assert files
        s3 = self._local.client("s3", os.environ["AWS_REGION"])
        for path in files:
            key = f"{prefix}/{path.relative_to(folder)}".lstrip("/")
            s3.put_object(Bucket=bucket, Key=key, Body=path.read_bytes())
        return 0

    def _deploy(self, words: Sequence[str]) -> int:
        (stack,), (file,) = _options(words, "--stack-name"), _options(words, "--template-file")
        region = os.environ["AWS_REGION"]
        text = Path(file).read_text("utf-8")
        body = {"TemplateBody": text}
        for bucket in _options(words, "--s3-bucket"):
            self._local.client("s3", region).put_object(Bucket=bucket, Key=stack, Body=text.encode())
            body = {"TemplateURL": f"{self._local.endpoint}/{bucket}/{stack}"}
        cloudformation = self._local.client("cloudformation", region)
        overrides = [word.split("=", 1) for word in words if re.match(r"\w+=", word)]
        try:
            cloudformation.create_stack(
                StackName=stack,
                Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in overrides],
                Capabilities=_options(words, "--capabilities"),
                **body,
            )
        except cloudformation.exceptions.ClientError as error:
            sys.stderr.write(f"{error}\n")
            return 255
        (created,) = cloudformation.describe_stacks(StackName=stack)["Stacks"]
        return 0 if created["StackStatus"] == "CREATE_COMPLETE" else 255


def _options(words: Sequence[str], name: str) -> list[str]:
    return [words[index + 1] for index, word in enumerate(words) if word == name]


def _typed(shape: Any, values: Sequence[str]) -> Any:
    """Return a parameter of the AWS CLI as the API takes it."""
    if shape.type_name == "boolean":
        return True
    if shape.type_name == "list":
        return list(values)
    (value,) = values
    if value.startswith("file://"):
        return Path(value.removeprefix("file://")).read_text("utf-8")
    if shape.type_name == "map" and not value.startswith("{"):  # the shorthand of the AWS CLI
        return dict(pair.split("=", 1) for pair in value.split(","))
    return value if shape.type_name == "string" else json.loads(value)
