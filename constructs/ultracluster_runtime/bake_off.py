"""Report figures of a run to a `BakeOff`.

For training code. It needs only the standard library of Python 3.10: copy this one file into an image, or install
the package there with ``pip install --no-deps ultracluster``.
"""

import json
import os
import sys

__all__ = ["report"]

# Variables in which launchers pass the rank of a process.
_RANKS = ("RANK", "JAX_PROCESS_ID", "NODE_RANK")


def report(**figures: float) -> None:
    """Print current figures as one line, in the first process of the job only.

    Outside a `BakeOff` nothing is printed, so that the call can stay in the program.

    Args:
        **figures: Measured values, by the names given to the `BakeOff`, such as ``tokens_per_second``.
    """
    candidate = os.environ.get("UC_CANDIDATE")
    rank = next((os.environ[name] for name in _RANKS if name in os.environ), "0")
    if candidate is not None and rank == "0":
        line = {"candidate": candidate, **{name: float(figure) for name, figure in figures.items()}}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
