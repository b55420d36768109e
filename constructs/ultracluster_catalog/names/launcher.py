"""The launcher of jobs: where it is, and the exit code by which it reports what happened."""

from typing import Final

LAUNCHER_PATH: Final = "/run/ultracluster/launch"
"""Path of the launcher on every node, and in every container."""

LOST_NODE: Final = 112
"""The main node's, when the job lost another node. A job with attempts left starts again: the program did not fail."""
