"""Type of functions that return boto3 clients."""

from collections.abc import Callable
from typing import Any

Client = Callable[[str, str], Any]
"""Returns the boto3 client of a service in a Region."""
