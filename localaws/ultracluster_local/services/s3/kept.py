"""Configurations of buckets that have IDs, which moto lacks or gives back incomplete: kept with their bucket as they were put."""

import re
from collections.abc import Mapping
from typing import Any

from moto.s3.exceptions import S3ClientError
from moto.s3.models import s3_backends

from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.handlers import Handlers, Request

__all__ = ["handlers", "kept_of"]

handlers = Handlers(service="s3")

_KINDS = ("Analytics", "IntelligentTiering", "Inventory", "Metrics")


def kept_of(bucket: str, kind: str) -> dict[str, dict[str, Any]]:
    """Return the configurations of a bucket by ID; an absent bucket is refused.

    Args:
        bucket: Name of the bucket.
        kind: Kind, such as ``Metrics``.
    """
    found = s3_backends[ACCOUNT]["aws"].get_bucket(bucket)
    kept: dict[str, dict[str, Any]] = vars(found).setdefault(f"kept:{kind}", {})
    return kept


def _answer(request: Request) -> Mapping[str, Any]:
    verb, kind = re.findall("(Put|Get|Delete|List)Bucket(.*)Configuration", request.operation)[0]
    kept, member = kept_of(request.parameters["Bucket"], kind), f"{kind}Configuration"
    if verb == "List":
        return {"IsTruncated": False, f"{member}List": list(kept.values())}
    wanted = request.parameters["Id"]
    if verb == "Put":
        kept[wanted] = request.parameters[member]
        return {}
    if verb == "Delete":
        kept.pop(wanted, None)
        return {}
    if wanted not in kept:
        raise S3ClientError("NoSuchConfiguration", "The specified configuration does not exist.")
    return {member: kept[wanted]}


for _kind in _KINDS:
    handlers(f"ListBucket{_kind}Configurations")(_answer)
    for _verb in ("Put", "Get", "Delete"):
        handlers(f"{_verb}Bucket{_kind}Configuration")(_answer)
