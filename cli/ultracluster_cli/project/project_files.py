"""Write the files of a new project."""

import importlib.metadata
import json
import shutil
import string
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ultracluster_catalog.places.zones import offered_zones
from ultracluster_cli.output import echo, print_findings
from ultracluster_cli.project.shipped import shipped
from ultracluster_spec.findings import Finding, FindingsError, quote, reject
from ultracluster_stacks.config import load_rollout
from ultracluster_stacks.config.reading.problem import Loc
from ultracluster_stacks.config.reading.yaml_edit import set_values
from ultracluster_stacks.config.schema import schema_text

_WHEELS = "wheels"
_DISTRIBUTIONS = (("ultracluster", "[local,toolchain]", ""), ("ultracluster-local", "", "localaws"))
"""The distributions with the extras that a project needs, and their folders in the repository."""
_TEMPLATES = Path(__file__).with_name("new_project")
_CLUSTER = ("waves", 0, "clusters", 0)
_OF_CAPACITY = ("launched_by", "reservation_id")
_PLACEHOLDER_REGION = "us-east-2"  # same Region as in the quick start


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectAnswers:
    """The answers that describe a new project. Default of IDs: placeholders for the local AWS."""

    name: str
    region: str
    zone_id: str
    instance_type: str
    nodes: int
    launched_by: str
    reservation_id: str | None = None
    image_id: str | None = None


def proposed_zone_id(instance_type: str, region: str) -> str:
    """Return the first zone known to offer an instance type in a Region, or an empty string."""
    return next(iter(offered_zones(instance_type, region)), "")


def example_names() -> list[str]:
    """Return the names of the examples, sorted."""
    return sorted(path.name for path in shipped("examples").iterdir() if (path / "app.py").is_file())


def write_project(directory: Path, answers: ProjectAnswers, source: str | None = None) -> None:
    """Write a project with a rollout file of one cluster, or nothing if that is invalid or the folder is not empty."""
    require_empty(directory)
    rollout = _rollout(answers)
    findings, warnings = _check(rollout)
    reject(findings)
    print_findings(warnings)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "rollout.yaml").write_text(rollout, encoding="utf-8")
    (directory / "rollout.schema.json").write_text(schema_text(), encoding="utf-8")
    shutil.copyfile(shipped("app.py"), directory / "app.py")
    _write_common_files(
        directory,
        source=source,
        context={"rollout": "rollout.yaml"},
        name=answers.name,
        what="The cluster is in [rollout.yaml](rollout.yaml); editors validate and complete it with rollout.schema.json.",
        deploy="ultracluster plan && ultracluster deploy",
        deploy_local="ultracluster deploy --local           # deploy with the CDK CLI",
        validate="\n      - run: ultracluster validate rollout.yaml",
        validate_gitlab="\n    - ultracluster validate rollout.yaml",
        deployment=_template("ci-deploy.yaml").substitute().rstrip(),
        deployment_gitlab=_template("gitlab-deploy.yml").substitute().rstrip(),
    )


def check_answer(answers: ProjectAnswers, field: str) -> list[Finding]:
    """Return what the rules of rollout files say of one answer."""
    findings, _ = _check(_rollout(answers))
    place = f"waves[0].clusters[0].{'capacity.' * (field in _OF_CAPACITY)}{field}"
    return [replace(finding, path="") for finding in findings if finding.path == place]


def _check(rollout: str) -> tuple[list[Finding], list[Finding]]:
    """Return the errors and the warnings of a rollout, without the place in a file that is not written yet."""
    with tempfile.TemporaryDirectory() as temporary:
        draft = Path(temporary) / "rollout.yaml"
        draft.write_text(rollout, encoding="utf-8")
        try:
            return [], list(load_rollout(draft).warnings)
        except FindingsError as error:
            return [replace(finding, location="") for finding in error.findings], []


def write_example(directory: Path, example: str, source: str | None = None) -> None:
    """Write a project from an example app without a rollout file."""
    require_empty(directory)
    if example not in example_names():
        problem = f"unknown example {quote(example)}"
        raise FindingsError.message(problem, allowed=", ".join(example_names()))
    skipped = shutil.ignore_patterns("__pycache__", "cdk.out", ".*")
    shutil.copytree(shipped("examples") / example, directory, dirs_exist_ok=True, ignore=skipped)
    _write_common_files(
        directory,
        source=source,
        context={},
        name=example,
        what="The app is [app.py](app.py).",
        deploy="npx cdk deploy --all",
        deploy_local='ultracluster local up && eval "$(ultracluster local env)" && npx cdk deploy --all',
    )


def require_empty(directory: Path) -> None:
    """Refuse a folder that has something in it, and a file in its place."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        problem = f"{quote(str(directory))} exists and is not empty"
        raise FindingsError.message(problem, remedy="Choose another folder")


def _rollout(answers: ProjectAnswers) -> str:
    text = shipped("stacks/rollouts/quickstart.yaml").read_text(encoding="utf-8")
    text = text.replace("$schema=../../docs/rollout.schema.json", "$schema=rollout.schema.json")
    text = text.replace(
        "# One cluster of four trn2.48xlarge: 64 Trainium2 chips, 12.8 Tbit/s of EFA.", "# One cluster."
    )
    text = text.replace(f".dkr.ecr.{_PLACEHOLDER_REGION}.", f".dkr.ecr.{answers.region}.")
    settings = asdict(answers)
    if answers.launched_by == "batch":  # the default
        del settings["launched_by"]
    values: dict[Loc, Any] = {
        (*_CLUSTER, "capacity", name) if name in _OF_CAPACITY else (*_CLUSTER, name): value
        for name, value in settings.items()
    }
    values[*_CLUSTER, "jobs", 0, "nodes"] = answers.nodes
    return set_values(text, {loc: value for loc, value in values.items() if value is not None})


def _write_common_files(
    directory: Path, *, source: str | None, context: dict[str, Any], name: str, **template_values: str
) -> None:
    """Write the files that all projects have: cdk.json, the pinned CDK CLI, tests, CI and README."""
    cdk_json = json.loads(shipped("cdk.json").read_text(encoding="utf-8"))
    flags = {key: value for key, value in cdk_json["context"].items() if key.startswith("@")}
    cdk_json["context"] = context | flags
    (directory / "cdk.json").write_text(json.dumps(cdk_json, indent=2) + "\n", encoding="utf-8")
    for file in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copyfile(shipped(file), directory / file)
    optional = dict.fromkeys(("validate", "validate_gitlab", "deployment", "deployment_gitlab"), "")
    values = optional | {
        "name": name,
        "requirements": "\n".join(_requirements(directory, source)),
        **template_values,
    }
    for template, file in (
        ("README.md", "README.md"),
        ("requirements.txt", "requirements.txt"),
        ("gitignore", ".gitignore"),
        ("ci.yaml", ".github/workflows/ci.yaml"),
        ("gitlab-ci.yml", ".gitlab-ci.yml"),
        ("test_app.py", "tests/test_app.py"),
    ):
        target = directory / file
        if target.exists():  # the example provides this file
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_template(template).substitute(values), encoding="utf-8")


def _template(name: str) -> string.Template:
    return string.Template((_TEMPLATES / f"{name}.template").read_text(encoding="utf-8"))


def _requirements(directory: Path, source: str | None) -> Iterator[str]:
    """Yield requirements of the distributions that a colleague can install: never a path of this machine.

    Without a source they are as installed here (PEP 610): by version from an index, which alone may have another owner there,
    by their Git URL, or as wheels, which are copied into the project.
    """
    absent = []
    for name, extras, folder in _DISTRIBUTIONS:
        distribution = importlib.metadata.distribution(name)
        text = distribution.read_text("direct_url.json")
        origin = json.loads(text) if text else {}
        address, fragments = str(origin.get("url", "")), []
        if source == "index" or not (source or origin):
            yield f"{name}{extras}=={distribution.version}"
            continue
        if source and source.startswith("git+"):
            address, fragments = source, [f"subdirectory={folder}"] if folder else []
        elif source or address.startswith("file:"):
            wheel = f"{name.replace('-', '_')}-{distribution.version}-py3-none-any.whl"
            place = Path(source) if source else Path(unquote(urlsplit(address).path)).parent
            if (place / wheel).is_file():
                (directory / _WHEELS).mkdir(exist_ok=True)
                shutil.copyfile(place / wheel, directory / _WHEELS / wheel)
            else:
                absent.append(wheel)
            yield f"./{_WHEELS}/{wheel}{extras}"
            continue
        elif revision := origin.get("vcs_info"):
            address = f"{revision['vcs']}+{address}@{revision['commit_id']}"
        if digest := origin.get("archive_info", {}).get("hashes", {}).get("sha256"):
            fragments.append(f"sha256={digest}")
        if not source and (subfolder := origin.get("subdirectory")):
            fragments.append(f"subdirectory={subfolder}")
        yield f"{name}{extras} @ {address}{'#' if fragments else ''}{'&'.join(fragments)}"
    if absent:
        echo(
            f"requirements.txt expects {' and '.join(absent)} in {directory / _WHEELS}: build them there with "
            f"`pip wheel --no-deps` from their source, or choose another --requirement."
        )
