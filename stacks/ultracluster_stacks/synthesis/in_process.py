"""Synthesizes clusters with the CDK in this process; as a program, those that come in."""

import gc

# The CDK's modules define some ten thousand classes that live to the end. Looking through them again and again for
# garbage while they are defined is a tenth of the time that one cluster takes.
gc.disable()

import sys  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from pathlib import Path  # noqa: E402

import aws_cdk as cdk  # noqa: E402

from ultracluster_rules.findings import FindingsError  # noqa: E402
from ultracluster_stacks.config import ClusterConfig  # noqa: E402
from ultracluster_stacks.stacks.cluster_stage import ClusterStage  # noqa: E402

gc.freeze()
gc.enable()

__all__ = ["synthesize_here"]


def synthesize_here(clusters: Sequence[ClusterConfig], directory: Path | None) -> None:
    """Synthesize clusters into one assembly.

    Args:
        clusters: The clusters.
        directory: Where to write. None for where the CDK writes by itself.
    """
    app = cdk.App(
        analytics_reporting=False,
        # Nothing of ours reads the tree, which repeats every template.
        tree_metadata=False,
        # Of a warning they name temporary folders and never our code, which runs in another process than the CDK.
        stack_traces=False,
        outdir=str(directory) if directory else None,
    )
    for cluster in clusters:
        ClusterStage(app, config=cluster)
    app.synth()


if __name__ == "__main__":
    import pickle

    try:
        # What comes in was written by the process that started this one.
        synthesize_here(pickle.load(sys.stdin.buffer), Path(sys.argv[1]))  # noqa: S301
    except FindingsError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
