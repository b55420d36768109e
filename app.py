"""The CDK app: the clusters of the rollout file that the context names (``cdk deploy '**' -c rollout=FILE``)."""

import atexit
import gc
import os
import sys

_codes: list[int] = []


def _leave() -> None:
    if _codes:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_codes[0])


# Registered before all others, it is called after them: the system takes back at once what Python would free piece by piece.
atexit.register(_leave)

# What is imported lives to the end. Looking through it for garbage, now and at the end, takes a fifth of the import.
gc.disable()

from ultracluster_stacks.synthesis.app import main  # noqa: E402

gc.freeze()
gc.enable()

_codes.append(main())
sys.exit(_codes[0])
