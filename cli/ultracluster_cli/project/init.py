"""`ultracluster init`: create a project."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ultracluster_cli.output import say
from ultracluster_cli.project.project_files import (
    ProjectAnswers,
    example_names,
    proposed_zone_id,
    write_example,
    write_project,
)
from ultracluster_rules.findings import quote

app = typer.Typer(add_completion=False)


@app.command()
def init(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Project folder, new or empty.")],
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
    reservation_id: Annotated[
        str | None, typer.Option(help="Reservation ID of a Capacity Block. Default: a placeholder.")
    ] = None,
    image_id: Annotated[str | None, typer.Option(help="AMI of the nodes. Default: a placeholder.")] = None,
) -> None:
    """Create a project: app, rollout file, tests and CI.

    The project can be deployed to the local AWS unchanged. Prompts for missing options at a terminal, and uses defaults
    elsewhere.
    """
    for option in (example, name, region, zone_id, instance_type, reservation_id, image_id):
        if option is not None and not option.isprintable():
            raise typer.BadParameter(f"{quote(option)} has characters that cannot be printed")
    if example == "list":
        typer.echo("\n".join(example_names()))
        return
    if example is not None:
        write_example(directory, example)
    else:
        instance_type = _answer("Instance type", instance_type, "trn2.48xlarge")
        region = _answer("Region", region, "us-east-2")
        zone_id = _answer("Zone ID of the capacity", zone_id, proposed_zone_id(instance_type, region))
        answers = ProjectAnswers(
            name=_answer("Name of the cluster", name, "training"),
            region=region,
            zone_id=zone_id,
            instance_type=instance_type,
            nodes=_answer("Nodes", nodes, 4),
            reservation_id=reservation_id,
            image_id=image_id,
        )
        write_project(directory, answers)
    say(f"Created a project in {directory}. See its README.md for next steps.")


def _answer(question: str, option: Any, default: Any) -> Any:
    if option is not None:
        return option
    return typer.prompt(question, default=default, err=True) if sys.stdin.isatty() else default
