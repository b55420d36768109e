"""Constraints that all AWS Batch resources share: names and tags."""

import re
from collections.abc import Mapping
from typing import Any

from ultracluster_local.services.batch.state import refused

__all__ = ["check_name", "check_tags"]

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,127}")
_MOST_TAGS = 50


def check_name(name: str, kind: str) -> None:
    """Refuse an invalid name; the frame of the message is AWS's for jobs ("Job name should match valid pattern").

    Raises:
        ServiceError: If it is invalid.
    """
    if not _NAME.fullmatch(name):
        raise refused(
            f"{kind} should match valid pattern: up to 128 letters, numbers, hyphens and underscores"
        )


def check_tags(given: Mapping[str, Any]) -> None:
    """Refuse more than 50 tags, and keys that AWS reserves.

    Raises:
        ServiceError: If there are some.
    """
    tags = given.get("tags") or {}
    if len(tags) > _MOST_TAGS:
        raise refused(f"A resource can have at most {_MOST_TAGS} tags")
