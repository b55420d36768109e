"""A local AWS for tests and demos, based on moto."""

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
    # Importing moto takes a second, which commands that only look for a running local AWS do not need. It also opens three
    # boto3 sessions, which fail if the user's AWS_PROFILE does not exist, and of which each reads the model of EC2.
    import botocore.session  # noqa: PLC0415

    from ultracluster_local.instance.clients import LOADER as _LOADER  # noqa: PLC0415

    profiles = _remove_profiles()
    create_loader = botocore.session.create_loader
    botocore.session.create_loader = lambda *_: _LOADER
    try:
        from ultracluster_local.server.local_aws import LocalAws  # noqa: PLC0415
    finally:
        botocore.session.create_loader = create_loader
        os.environ.update(profiles)
    return LocalAws
