"""`ultracluster preflight`: the command line of it; the work is in `ultracluster_cli.preflight_run`."""

from pathlib import Path
from typing import Annotated

import typer

from ultracluster_cli.capacity_options import LedgerOption, LedgerRegionOption

__all__ = ["app", "preflight"]

app = typer.Typer(add_completion=False)

_FAILED_EXIT_CODE = 1


@app.command()
def preflight(
    rollout: Annotated[Path, typer.Argument(metavar="ROLLOUT", help="The rollout file.")],
    *,
    wave: Annotated[str | None, typer.Option(help="Look at the clusters of this wave only.")] = None,
    cluster: Annotated[
        list[str] | None, typer.Option(help="Only this cluster; may be repeated. Default: all.")
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Leave out this check; may be repeated.")
    ] = None,
    local: Annotated[
        bool,
        typer.Option(
            "--local",
            help="Look at a local AWS, with fakes of the reservations and AMIs, as deploy --local does.",
        ),
    ] = False,
    profile: Annotated[str | None, typer.Option(help="Profile of the shared AWS configuration.")] = None,
    qualifier: Annotated[str, typer.Option(help="Qualifier of the CDK's bootstrap.")] = "hnb659fds",
    ledger: LedgerOption = None,
    ledger_region: LedgerRegionOption = None,
    timeout: Annotated[float, typer.Option(help="Seconds for all checks together.")] = 120.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/command-line.md).")] = False,
) -> None:
    """Find out whether an account has what a rollout needs; reads only, and changes nothing.

    Ends with 1 if a check fails.
    """
    from ultracluster_cli.preflight_run import preflight_rollout  # noqa: PLC0415 - boto3 and pydantic; not for the help

    good = preflight_rollout(
        rollout,
        wave=wave,
        clusters=cluster or [],
        left_out=skip or [],
        local=local,
        profile=profile,
        qualifier=qualifier,
        ledger=(ledger, ledger_region) if ledger and ledger_region else None,
        seconds=timeout,
        as_json=as_json,
    )
    if not good:
        raise typer.Exit(_FAILED_EXIT_CODE)
