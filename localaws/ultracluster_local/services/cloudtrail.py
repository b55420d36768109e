"""CloudTrail's event history, which is always empty: local calls are not recorded.

The CDK CLI looks it up after a failed deployment.
"""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.handlers import Handlers, Request

__all__ = ["handlers"]

handlers = Handlers(service="cloudtrail")


@handlers("LookupEvents")
def lookup_events(request: Request) -> Mapping[str, Any]:  # noqa: ARG001 - one signature for all handlers
    """Return no events."""
    return {"Events": []}
