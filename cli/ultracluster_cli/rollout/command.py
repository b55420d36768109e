"""`ultracluster rollout`: deploy a rollout wave by wave."""

import typer

from ultracluster_cli.option_groups import with_option_groups
from ultracluster_cli.rollout.run import RolloutRequest, roll_out

app = typer.Typer(add_completion=False)


@app.command()
@with_option_groups
def rollout(request: RolloutRequest) -> None:
    """Deploy a rollout wave by wave, with gates in between.

    A wave starts when all clusters of the previous wave have passed their gates. Deploys exactly what was planned. Exits
    with code 3 if the plan is stopped, and with 4 if a step fails; continue with --resume.
    """
    if sum([request.resume, request.restart, request.rollback is not None]) > 1:
        raise typer.BadParameter("specify only one of --resume, --restart and --rollback")
    if request.wave is not None and (request.resume or request.rollback is not None):
        raise typer.BadParameter("--wave cannot be combined with --resume or --rollback")
    raise typer.Exit(roll_out(request))
