"""A local AWS for tests and demos, based on moto.

Importing this package is cheap: moto and boto3 are loaded when a local AWS starts.
"""

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.server.local_aws import LocalAws

__all__ = ["ACCOUNT", "LocalAws"]
