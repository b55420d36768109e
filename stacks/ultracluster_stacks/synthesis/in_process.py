"""Synthesize clusters with the CDK in this process; as a program, the pickled clusters on stdin."""

import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

import aws_cdk as cdk

from ultracluster_spec.cluster import Cluster
from ultracluster_spec.findings import FindingsError
from ultracluster_stacks.stacks.cluster_stage import ClusterStage


def synthesize(clusters: Sequence[Cluster], directory: Path | None) -> None:
    """Synthesize clusters into one cloud assembly, by default in the CDK's directory."""
    app = cdk.App(
        analytics_reporting=False,
        # The construct tree repeats every template, and nothing here reads it.
        tree_metadata=False,
        # Stack traces of warnings name temporary directories of jsii and never the Python code.
        stack_traces=False,
        outdir=str(directory) if directory else None,
    )
    for cluster in clusters:
        ClusterStage(app, config=cluster)
    app.synth()


if __name__ == "__main__":
    try:
        # The parent process wrote the pickle.
        synthesize(pickle.load(sys.stdin.buffer), Path(sys.argv[1]))  # noqa: S301
    except FindingsError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
