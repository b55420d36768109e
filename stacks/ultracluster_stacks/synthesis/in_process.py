"""Synthesize clusters with the CDK in this process; as a program, the pickled clusters on stdin, with findings on stdout."""

import pickle
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import aws_cdk as cdk

from ultracluster._foundation.synthesis_check import give_warnings
from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.stacks.cluster_stage import ClusterStage
from ultracluster_stacks.synthesis.template_findings import keep_warnings


def synthesize(clusters: Sequence[Cluster], directory: Path | None) -> Path:
    """Synthesize clusters into one cloud assembly, by default in a temporary directory of the CDK; return its directory."""
    app = cdk.App(
        analytics_reporting=False,
        # The construct tree repeats every template, and nothing here reads it.
        tree_metadata=False,
        # Stack traces of warnings name temporary directories of jsii and never the Python code.
        stack_traces=False,
        outdir=str(directory) if directory else None,
    )
    assembly = directory or Path(app.outdir)
    give_warnings(app, partial(keep_warnings, assembly))
    for cluster in clusters:
        ClusterStage(app, config=cluster)
    app.synth()
    return assembly


if __name__ == "__main__":
    try:
        # The parent process wrote the pickle.
        synthesize(pickle.load(sys.stdin.buffer), Path(sys.argv[1]))  # noqa: S301
    except FindingsError as error:
        pickle.dump(error.findings, sys.stdout.buffer)
        sys.exit(2)
