"""CloudTrail's event history: always empty, since nothing local is recorded.

The CDK CLI asks for it after a failed deployment.
"""

from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.handlers import Handlers, Request

__all__ = ["handlers"]

handlers = Handlers(service="cloudtrail")


@handlers("LookupEvents")
def lookup_events(request: Request) -> Mapping[str, Any]:  # noqa: ARG001 - one signature for all handlers
    """Answer that nothing was recorded."""
    return {"Events": []}
