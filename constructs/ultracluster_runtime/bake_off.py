"""Figures of a run, printed so that a `BakeOff` puts them into its table.

For training code. It needs the standard library of Python 3.10 only: copy this one file into an image, or install
the package there with ``pip install --no-deps ultracluster``.
"""

import json
import os
import sys

__all__ = ["report"]

# How launchers tell a process which of all it is.
_RANKS = ("RANK", "JAX_PROCESS_ID", "NODE_RANK")


def report(**figures: float) -> None:
    """Print figures of this moment as one line, in the first process of the job only.

    Outside a `BakeOff` nothing is printed, so that the call may stay in the program.

    Args:
        **figures: What was measured, by the names that the `BakeOff` was given, such as ``tokens_per_second``.
    """
    contestant = os.environ.get("UC_CONTESTANT")
    rank = next((os.environ[name] for name in _RANKS if name in os.environ), "0")
    if contestant is not None and rank == "0":
        line = {"contestant": contestant, **{name: float(figure) for name, figure in figures.items()}}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
