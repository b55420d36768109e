"""Run `cdk synth` in a separate output folder, leaving cdk.out as last deployed, and report what failed."""

from collections.abc import Mapping
from pathlib import Path

from ultracluster_cli._cdk.child_process import run_logged
from ultracluster_cli._cdk.toolchain import Project
from ultracluster_cli.output import say
from ultracluster_cli.progress import doing
from ultracluster_rules.findings import FindingsError

_LINES_SHOWN = 10


def synthesize_into(
    output: Path,
    project: Project,
    *,
    rollout: Path,
    wave: str | None,
    environment: Mapping[str, str],
    purpose: str | None = None,
    no_cache: bool = False,
) -> None:
    """Synthesize a rollout, or raise UC9201 if cdk synth fails.

    ``purpose`` is a context value of the app, for which capacity need not be bought. Default: a deployment.
    """
    command = [str(project.toolchain.cdk), "synth", "**", "--quiet", "--no-notices", "--no-color"]
    command += ["--output", str(output), "--context", f"rollout={rollout}"]
    if wave is not None:
        command += ["--context", f"wave={wave}"]
    if purpose is not None:
        command += ["--context", f"purpose={purpose}"]
    if no_cache:
        command += ["--context", "cache=false"]
    log = project.state / "logs" / "cdk-synth.log"
    log.parent.mkdir(exist_ok=True)
    lines: list[str] = []
    with doing("Synthesizing"):
        code = run_logged(
            command,
            directory=project.directory,
            environment=project.environment(environment),
            log=log,
            on_line=lines.append,
        )
    if code:
        for line in lines[-_LINES_SHOWN:]:
            say(f"  | {line}")
        problem = f"cdk synth ended with code {code}; see {log}"
        remedy = "Fix the error and run the command again"
        raise FindingsError.of("UC9201", problem, remedy=remedy)


def require_deployed(code: int, *, log: Path) -> None:
    """Raise UC9006 if `cdk deploy` ended with another code than 0."""
    if code:
        problem = f"cdk deploy ended with code {code}; see {log}"
        raise FindingsError.of("UC9006", problem, remedy="Fix the error and deploy again")
