"""A local AWS for tests and demos, based on moto."""

import gc
import os
from typing import TYPE_CHECKING

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.instance.environment import remove_profiles as _remove_profiles

if TYPE_CHECKING:
    from ultracluster_local.server.local_aws import LocalAws

__all__ = ["ACCOUNT", "LocalAws"]


def __getattr__(name: str) -> object:
    if name != "LocalAws":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # The garbage collector would take a third of the import: it looks again and again at objects that moto keeps.
    collects = gc.isenabled()
    gc.disable()
    # Importing moto takes a second, which commands that only look for a running local AWS do not need. It also opens
    # boto3 sessions, which fail if the user's AWS_PROFILE does not exist.
    profiles = _remove_profiles()
    try:
        from ultracluster_local.server.local_aws import LocalAws  # noqa: PLC0415
    finally:
        os.environ.update(profiles)
        if collects:
            gc.enable()
    return LocalAws
