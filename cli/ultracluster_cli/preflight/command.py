"""`ultracluster preflight`: the command line of it; the work is in `ultracluster_cli.preflight.run`."""

from typing import Annotated

import typer

from ultracluster_cli.options import (
    ClustersOption,
    JsonOption,
    LedgerOption,
    LedgerRegionOption,
    RolloutArgument,
    RolloutProfileOption,
    SkipOption,
    WaveOption,
)

__all__ = ["app", "preflight"]

app = typer.Typer(add_completion=False)

_FAILED_EXIT_CODE = 1


@app.command()
def preflight(
    rollout: RolloutArgument,
    *,
    wave: WaveOption = None,
    cluster: ClustersOption = None,
    skip: SkipOption = None,
    local: Annotated[
        bool,
        typer.Option(
            "--local",
            help="Look at a local AWS, with fakes of the reservations and AMIs, as deploy --local does.",
        ),
    ] = False,
    profile: RolloutProfileOption = None,
    qualifier: Annotated[str, typer.Option(help="Qualifier of the CDK's bootstrap.")] = "hnb659fds",
    ledger: LedgerOption = None,
    ledger_region: LedgerRegionOption = None,
    timeout: Annotated[float, typer.Option(help="Seconds for all checks together.")] = 120.0,
    as_json: JsonOption = False,
) -> None:
    """Find out whether an account has what a rollout needs; reads only, and changes nothing.

    Ends with 1 if a check fails.
    """
    from ultracluster_cli.preflight.run import preflight_rollout  # noqa: PLC0415 - boto3 and pydantic; not for the help

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
