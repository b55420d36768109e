"""A local AWS on moto: for the demo, for our tests and for users' own tests.

Importing this package is cheap: moto and boto3 are loaded when a local AWS starts.
"""

from ultracluster_local.environment import ACCOUNT
from ultracluster_local.local_aws import LocalAws

__all__ = ["ACCOUNT", "LocalAws"]
