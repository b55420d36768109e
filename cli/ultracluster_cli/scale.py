"""`ultracluster scale`: what very many chips need, break and lose; nothing is asked of AWS."""

from typing import Annotated, Any

import typer

from ultracluster_cli.options import JsonOption
from ultracluster_cli.output import print_json
from ultracluster_rules.findings import Finding, FindingsError, quote

__all__ = ["app", "scale"]

app = typer.Typer(add_completion=False)


@app.command()
def scale(
    *,
    chips: Annotated[int, typer.Option(help="Chips that are wanted.")],
    instance_type: Annotated[
        str, typer.Option(help="Instance type, such as trn2.48xlarge.")
    ] = "trn2.48xlarge",
    regions: Annotated[
        str | None,
        typer.Option(
            metavar="A,B", help="Regions to use. Default: where blocks of the type are known to be sold."
        ),
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="Replace an assumption of the report, such as failures_per_chip_day=0.0001; may be repeated.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same simulation.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Say what so many chips break first and what it takes, propose a layout, simulate its rollout and its failures.

    Prints Markdown. Computed from dated limits and named assumptions; nothing is asked of AWS.
    """
    from ultracluster_runtime.scale import (  # noqa: PLC0415 - computes; not for the help
        Assumptions,
        propose_layout,
        report_json,
        report_markdown,
    )

    layout = propose_layout(
        chips,
        instance_type=instance_type,
        regions=None if regions is None else [each.strip() for each in regions.split(",")],
        assumptions=Assumptions(**_assumed(assume or [])),
    )
    if as_json:
        print_json(report_json(layout, seed=seed))
        return
    typer.echo(report_markdown(layout, seed=seed), nl=False)


def _assumed(given: list[str]) -> dict[str, Any]:
    from ultracluster_runtime.scale import ASSUMPTION_BASES, Assumptions  # noqa: PLC0415 - as above

    assumed: dict[str, Any] = {}
    findings = []
    defaults = Assumptions()
    for text in given:
        name, _, number = text.partition("=")
        try:
            # A count stays one: half a queue is none.
            assumed[name] = type(getattr(defaults, name))(number)
        except (AttributeError, ValueError):
            findings.append(
                Finding(
                    code="UC9644",
                    problem=f"got --assume {quote(text)}",
                    allowed=f"NAME=NUMBER, with a name of {', '.join(ASSUMPTION_BASES)}",
                )
            )
    if findings:
        raise FindingsError(findings)
    return assumed
