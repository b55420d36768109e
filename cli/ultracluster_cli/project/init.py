"""`ultracluster init`: create a project."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from ultracluster_catalog.capacity.capacity_blocks import BATCH_LAUNCHES_SHOWN, BLOCK_REGIONS, block_regions
from ultracluster_catalog.machines.instance_types import INSTANCE_TYPES
from ultracluster_catalog.places.zones import REGIONS, offered_zones
from ultracluster_cli.output import counted, echo
from ultracluster_cli.project import project_files
from ultracluster_spec.capacity import LaunchedBy
from ultracluster_spec.findings import quote
from ultracluster_spec.untrusted_files import read_untrusted_json

_QUESTIONS = {
    "instance_type": "Instance type",
    "region": "Region",
    "zone_id": "Zone ID of the capacity",
    "name": "Name of the cluster",
    "nodes": "Nodes",
    "launched_by": "What starts the nodes in the Capacity Block",
}


def init(
    directory: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Project folder, new or empty. Default: the name of the cluster."),
    ] = None,
    *,
    example: Annotated[
        str | None,
        typer.Option(help="Start from this example instead of a rollout file; use `list` to list examples."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the cluster.")] = None,
    region: Annotated[str | None, typer.Option(help="Region of the cluster.")] = None,
    zone_id: Annotated[str | None, typer.Option(help="Zone ID, such as use2-az3.")] = None,
    instance_type: Annotated[str | None, typer.Option(help="Instance type, such as trn2.48xlarge.")] = None,
    nodes: Annotated[int | None, typer.Option(help="Number of nodes.")] = None,
    launched_by: Annotated[
        str | None,
        typer.Option(
            metavar="batch|auto-scaling",
            help="What starts the nodes (`ultracluster docs two-roads`). Default: batch.",
        ),
    ] = None,
    reservation_id: Annotated[
        str | None, typer.Option(help="Reservation ID of a Capacity Block. Default: a placeholder.")
    ] = None,
    image_id: Annotated[str | None, typer.Option(help="AMI of the nodes. Default: a placeholder.")] = None,
    requirement: Annotated[
        str | None,
        typer.Option(
            metavar="index|git+URL@TAG|FOLDER",
            help="Where a colleague installs ultracluster from: the index, a Git URL, or wheels of a folder, which are copied into the project. "
            "Default: as it is installed here.",
        ),
    ] = None,
    defaults: Annotated[bool, typer.Option("--defaults", help="Ask nothing; use defaults.")] = False,
) -> None:
    """Create a project: app, rollout file, tests and pipelines for GitHub and GitLab.

    The project can be deployed to the local AWS unchanged. On a terminal, says how many questions it asks for missing
    options, checks each answer as it is given, and keeps the answers after an interruption. Otherwise, uses defaults.
    """
    for option in (
        example,
        name,
        region,
        zone_id,
        instance_type,
        launched_by,
        reservation_id,
        image_id,
        requirement,
    ):
        if option is not None and not option.isprintable():
            raise typer.BadParameter(f"{quote(option)} has characters that cannot be printed")
    if example == "list":
        typer.echo("\n".join(project_files.example_names()))
        return
    if example is not None:
        directory = directory or Path(example)
        project_files.write_example(directory, example, requirement)
    else:
        options: dict[str, Any] = {
            "instance_type": instance_type,
            "region": region,
            "zone_id": zone_id,
            "name": name,
            "nodes": nodes,
            "launched_by": launched_by,
            "reservation_id": reservation_id,
            "image_id": image_id,
        }
        given = {field: value for field, value in options.items() if value is not None}
        asks = sys.stdin.isatty() and not defaults
        folder_asked = asks and directory is None
        try:
            answers = _ask(given, more=folder_asked) if asks else _complete(given)
            if directory is None:
                directory = Path(answers.name)
                if folder_asked:
                    directory = Path(typer.prompt("Folder", default=answers.name, err=True))
        except typer.Abort:
            if _kept_answers().exists():
                echo("Your answers are kept: `ultracluster init` goes on with them.")
            raise
        project_files.write_project(directory, answers, requirement)
        _kept_answers().unlink(missing_ok=True)
    echo(f"Created a project in {directory}. See its README.md for next steps.")


def _complete(given: Mapping[str, Any]) -> project_files.ProjectAnswers:
    """Return answers with defaults for those that are not given, and with a zone that fits type and Region."""
    answers = {
        "name": "training",
        "instance_type": "trn2.48xlarge",
        "region": "us-east-2",
        "nodes": 4,
        "launched_by": "batch",
        **given,
    }
    zone = project_files.proposed_zone_id(answers["instance_type"], answers["region"])
    return project_files.ProjectAnswers(**{"zone_id": zone, **answers})


def _ask(given: Mapping[str, Any], *, more: bool) -> project_files.ProjectAnswers:
    """Ask for what is not given, and keep the answers until the project is written."""
    count = sum(field not in given for field in _QUESTIONS) + more
    if count:
        echo(f"{counted(count, 'question')}; Enter takes what is in brackets, and --defaults asks none.")
    kept = _read_kept()
    if kept:
        echo("These are your answers of last time; press Enter to keep one.")
    known = dict(given)
    for field, question in _QUESTIONS.items():
        if field not in given:
            known[field] = _ask_one(field, question, known, kept)
            _kept_answers().parent.mkdir(exist_ok=True)
            _kept_answers().write_text(json.dumps(known), encoding="utf-8")
    return _complete(known)


def _ask_one(field: str, question: str, known: Mapping[str, Any], kept: Mapping[str, Any]) -> Any:
    choices = _choices(field, known)
    default = getattr(_complete(known), field)
    if field in kept and not project_files.check_answer(_complete({**known, field: kept[field]}), field):
        default = kept[field]
    if field == "launched_by" and known["instance_type"] not in BATCH_LAUNCHES_SHOWN:
        echo(f"AWS documents auto-scaling; no published run shows batch with {known['instance_type']}.")
    if choices:
        echo(f"{question}: " + ", ".join(f"{number} {choice}" for number, choice in enumerate(choices, 1)))
    while True:
        answer = typer.prompt(question, default=default, err=True, type=type(default))
        if isinstance(answer, str) and answer.isdecimal() and 1 <= int(answer) <= len(choices):
            answer = choices[int(answer) - 1]
        findings = project_files.check_answer(_complete({**known, field: answer}), field)
        if not findings:
            return answer
        for finding in findings:
            echo(str(finding))


def _choices(field: str, known: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the catalogue lists for a question, the most likely first."""
    if field == "instance_type":
        neuron = sorted(BLOCK_REGIONS, key=lambda name: (not name.startswith("trn"), name))
        return tuple(name for name in neuron if INSTANCE_TYPES[name].is_neuron)
    answers = _complete(known)
    if field == "region":
        return block_regions(answers.instance_type) or REGIONS
    if field == "zone_id":
        return tuple(offered_zones(answers.instance_type, answers.region))
    return get_args(LaunchedBy) if field == "launched_by" else ()


def _kept_answers() -> Path:
    return Path(".ultracluster") / "init.json"


def _read_kept() -> dict[str, Any]:
    try:
        kept = read_untrusted_json(_kept_answers())
    except (OSError, ValueError):
        return {}
    known = kept if isinstance(kept, dict) else {}
    return {
        field: value
        for field, value in known.items()
        if field in _QUESTIONS and isinstance(value, int if field == "nodes" else str)
    }
