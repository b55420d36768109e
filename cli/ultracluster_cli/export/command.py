"""`ultracluster export`: export CloudFormation templates."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ultracluster_cli._aws.selection import clusters_of
from ultracluster_cli._cdk.cdk_synthesis import synthesize_into
from ultracluster_cli._cdk.toolchain import find_toolchain
from ultracluster_cli._cdk.workspace import rollout_file, run_directory, state_directory
from ultracluster_cli.export.run import export_assembly
from ultracluster_cli.options import JsonOption, OptionalRolloutArgument, WaveOption
from ultracluster_cli.output import print_findings, print_json, print_table, say
from ultracluster_rules.findings import FindingsError, quote
from ultracluster_stacks.config import load_rollout

app = typer.Typer(add_completion=False)


@app.command()
def export(
    rollout: OptionalRolloutArgument = None,
    *,
    output: Annotated[Path, typer.Option(help="Output folder, new or empty.")],
    bucket: Annotated[
        str | None,
        typer.Option(help="Default of the AssetBucket parameter, the bucket for OUTPUT/assets."),
    ] = None,
    wave: WaveOption = None,
    as_json: JsonOption = False,
) -> None:
    """Export CloudFormation templates for teams that deploy without the CDK.

    Writes templates with parameters, without using an account.
    """
    directory = Path.cwd()
    rollout = rollout_file(directory, rollout)
    loaded = load_rollout(rollout)
    print_findings(loaded.warnings)
    clusters = clusters_of(loaded.config, wave)
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        problem = f"{quote(str(output))} exists and is not empty"
        raise FindingsError.of("UC9611", problem, remedy="Choose another folder")
    state = state_directory(directory)
    with run_directory(state) as temporary:
        synthesize_into(
            temporary / "export",
            toolchain=find_toolchain(directory),
            directory=directory,
            rollout=rollout,
            wave=wave,
            temporary=temporary,
            environment=os.environ,
        )
        rows = export_assembly(temporary / "export", clusters, output=output, bucket=bucket)
    if as_json:
        print_json({"templates": rows})
    else:
        print_table(columns=list(rows[0]), rows=rows, title=f"Written to {output}")
        say(
            "Deploy the templates of a cluster in this order: network, storage, cluster. See `ultracluster docs export`."
        )
