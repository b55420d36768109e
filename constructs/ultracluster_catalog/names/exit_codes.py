"""Exit codes by which the launcher of a job reports what happened."""

from typing import Final

LOST_NODE: Final = 112
"""The main node's, when the job lost another node. A job with attempts left starts again: the program did not fail."""
