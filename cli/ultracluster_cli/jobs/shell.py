"""Open a shell on a node with Session Manager."""

import json
import os
import shlex
import shutil

from ultracluster_rules.findings import FindingsError


def open_shell(node: str, *, region: str, profile: str | None, container_of: str | None = None) -> None:
    """Replace this process with a shell on a node, or in the container of a job there.

    ``container_of`` is the ARN of an ECS task.

    Raises:
        FindingsError: If the AWS CLI or its Session Manager plugin is not installed (UC6232).
    """
    if endpoint := os.environ.get("AWS_ENDPOINT_URL"):
        _open_local_shell(endpoint, container_of or node)
        return
    command = _command(node, region=region, profile=profile, container_of=container_of)
    if missing := [name for name in ("aws", "session-manager-plugin") if not shutil.which(name)]:
        remedy = (
            f"Install the AWS CLI and its Session Manager plugin, or run elsewhere: {shlex.join(command)}"
        )
        raise FindingsError.of("UC6232", f"{' and '.join(missing)} not found on PATH", remedy=remedy)
    os.execvp(command[0], command)  # noqa: S606 - a shell for the user, without a shell in between


def _open_local_shell(endpoint: str, name: str) -> None:
    """Replace this process with a shell in the folder and with the variables of a process that the local AWS has started."""
    from ultracluster_local.errors import LocalAwsError  # noqa: PLC0415 - optional dependency
    from ultracluster_local.seeding.seed_client import inside  # noqa: PLC0415 - likewise

    try:
        folder, environment = inside(
            endpoint=endpoint, key=os.environ.get("AWS_ACCESS_KEY_ID", ""), name=name
        )
    except LocalAwsError as error:
        raise FindingsError.of(error.code, error.problem, remedy=error.remedy) from None
    shell = shutil.which("bash") or "sh"
    os.chdir(folder)
    variables = {**environment, "TERM": os.environ.get("TERM", "dumb")}
    os.execvpe(shell, [shell], variables)  # noqa: S606 - a shell for the user, without a shell in between


def _command(node: str, *, region: str, profile: str | None, container_of: str | None) -> list[str]:
    command = ["aws", "ssm", "start-session", "--target", node, "--region", region]
    if profile:
        command += ["--profile", profile]
    if container_of:
        # The ECS agent labels each container with the ARN of its task.
        ids = f"sudo docker ps --quiet --filter label=com.amazonaws.ecs.task-arn={container_of}"
        inside = f"sudo docker exec --interactive --tty $({ids} | head -1) sh -c 'command -v bash >/dev/null && exec bash || exec sh'"
        command += [
            "--document-name",
            "AWS-StartInteractiveCommand",
            "--parameters",
            json.dumps({"command": [inside]}, separators=(",", ":")),
        ]
    return command
