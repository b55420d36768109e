"""Lambda functions as local processes; moto needs Docker for them.

Python functions run on this Python, Node.js functions on the `node` in PATH. Each function has a folder of its own for code
and temporary files, which is also its home. Of the user's environment it sees the search path and the language; it
reaches only the local AWS. The clock of Python functions starts at the time of the local AWS.
"""

import hashlib
import io
import json
import os
import shutil
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from moto.awslambda.models import LambdaBackend, LambdaFunction
from moto.cloudwatch.models import cloudwatch_backends

from ultracluster_local.functions.execution_environment import Answer, end_environments, invoke
from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT, child_environment
from ultracluster_local.instance.running import running
from ultracluster_local.instance.state import region_state
from ultracluster_local.services.iam.role_sessions import new_session
from ultracluster_local.services.observability.embedded_metrics import extract_metrics
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []

_HARNESSES = Path(__file__).parent / "lambda_harness"
_INHERITED = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE")
_LEAST_SECONDS = 60
"""Minimum timeout. Cold starts share the machine with the deployment; Lambda's default of 3 s would fail at random."""


@instead_of(LambdaBackend, "delete_function")
def _delete_function(original: Any, backend: Any, function_name: str, qualifier: str | None = None) -> None:
    name = function_name.rsplit(":function:", 1)[-1].split(":", maxsplit=1)[0]
    original(backend, function_name, qualifier)
    end_environments(_folder(backend.region_name, name))


@instead_of(LambdaFunction, "_invoke_lambda")
def _invoke(original: Any, function: Any, event: Any = None) -> Answer:  # noqa: ARG001 - it needs Docker
    """Run one invocation in place of moto's `LambdaFunction._invoke_lambda`.

    Records the Invocations and Errors metrics at its start time, as AWS Lambda does.
    """
    began = CLOCK.now()
    answer = _run(function, event)
    _count(function, began, failed=answer.failed)
    return answer


def _count(function: Any, moment: datetime, *, failed: bool) -> None:
    data = [
        {
            "MetricName": name,
            "Value": value,
            "Unit": "Count",
            "Timestamp": moment.astimezone(UTC).replace(tzinfo=None),  # moto's times are naive
            "Dimensions": [{"Name": "FunctionName", "Value": function.function_name}],
        }
        for name, value in (("Invocations", 1), ("Errors", int(failed)))
    ]
    cloudwatch_backends[ACCOUNT][function.region].put_metric_data("AWS/Lambda", data)


def _run(function: Any, event: Any) -> Answer:
    event = json.loads(event) if isinstance(event, str) else event
    folder = _folder(function.region, function.function_name)
    code = _unpacked(function.code_bytes, folder)
    node = (function.run_time or "").startswith("nodejs")
    command = _command(node=node)
    if command is None:
        problem = "This function needs `node` on PATH, as `make env` installs it"
        error = {"errorType": "LocalAws.NoNode", "errorMessage": problem}
        return Answer(json.dumps(error), failed=True, log="")
    environment = (
        child_environment(
            endpoint=running().clients.endpoint,
            key=running().clients.key,
            region=function.region,
            base={name: os.environ[name] for name in _INHERITED if name in os.environ},
        )
        | _credentials(function)
        | {name: str(value) for name, value in (function.environment_vars or {}).items()}
        | {
            "_HANDLER": function.handler,
            "AWS_LAMBDA_FUNCTION_NAME": function.function_name,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_size),
            "AWS_LAMBDA_FUNCTION_VERSION": str(function.version),
            "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.function_name}",
            "AWS_LAMBDA_LOG_STREAM_NAME": "local",
            "LOCAL_AWS_FUNCTION_ARN": function.function_arn,
            "LAMBDA_TASK_ROOT": str(code),
            "HOME": str(_made(folder / "tmp")),
            "TMPDIR": str(_made(folder / "tmp")),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
    )
    answer = invoke(
        command,
        code,
        environment,
        event or {},
        moment=CLOCK.now().isoformat() if CLOCK.stands else None,
        timeout=int(function.timeout),
        seconds=max(int(function.timeout), _LEAST_SECONDS),
    )
    extract_metrics(answer.log.splitlines(), region=function.region)
    return answer


def _credentials(function: Any) -> dict[str, str]:
    """Return the credentials of the role of a function, the same for all its calls, if policies are evaluated."""
    if not running().evaluates_policies:
        return {}
    known: dict[tuple[str, str], dict[str, str]] = region_state("functions:sessions", region="aws", new=dict)
    identity = (function.role, function.function_name)
    found = known.get(identity) or known.setdefault(identity, new_session(*identity))
    return {
        "AWS_ACCESS_KEY_ID": found["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": found["SecretAccessKey"],
        "AWS_SESSION_TOKEN": found["Token"],
    }


def _command(*, node: bool) -> list[str] | None:
    if not node:
        return [sys.executable, str(_HARNESSES / "python_harness.py")]
    beside_python = Path(sys.executable).parent / "node"
    found = str(beside_python) if beside_python.exists() else shutil.which("node")
    return [found, str(_HARNESSES / "node_harness.js")] if found else None


def _folder(region: str, name: str) -> Path:
    """Return the folder of a function, which no other function shares."""
    identity = f"{region}:{name}"
    return running().directory / "functions" / hashlib.sha256(identity.encode()).hexdigest()[:32]


def _unpacked(archive: bytes, folder: Path) -> Path:
    """Unpack a function's code once per content hash."""
    target = folder / hashlib.sha256(archive).hexdigest()[:32]
    if not target.exists():
        partial = _made(target.with_name(f"{target.name}.{os.getpid()}"))
        with zipfile.ZipFile(io.BytesIO(archive)) as packed:
            packed.extractall(partial)  # zipfile drops absolute paths and ".."
        partial.rename(target)
    return target


def _made(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory
