"""Caches for work that moto repeats with each request, a third of the deployment time."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

from moto import backends
from moto.core import responses
from moto.core.serialize import AttributePicker, AttributePickerContext
from moto.core.utils import MISSING, get_value
from moto.ec2 import utils as ec2_utils
from moto.ec2.models.tags import TagBackend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication

__all__ = ["install"]


def install() -> None:
    """Install the caches; responses stay the same."""
    # moto lists its directory and the methods of a class for each request.
    backends.list_of_moto_modules = functools.cache(_listed(backends.list_of_moto_modules))
    responses.method_names_from_class = functools.cache(responses.method_names_from_class)
    # moto matches the host of each request against a pattern of each service.
    DomainDispatcherApplication.get_backend_for_host = _by_host(
        DomainDispatcherApplication.get_backend_for_host
    )
    # Each new Region gets a thousand public AMIs with random IDs.
    ec2_utils.random_resource_id = _random_digits
    # moto computes the candidate attribute names of each value of each response.
    AttributePicker.__call__ = functools.wraps(AttributePicker.__call__)(_pick)
    # moto scans the tags of all resources to describe those of one.
    TagBackend.describe_tags = _of_one(TagBackend.describe_tags)


def _listed(modules: Callable[[], Iterable[str]]) -> Callable[[], tuple[str, ...]]:
    return lambda: tuple(modules())


def _by_host(find: Callable[[Any, str | None], Any]) -> Callable[[Any, str | None], Any]:
    found: dict[str | None, Any] = {}

    @functools.wraps(find)
    def known(application: Any, host: str | None) -> Any:
        if host not in found:
            found[host] = find(application, host)
        return found[host]

    return known


def _random_digits(size: int = 8) -> str:
    return f"{ec2_utils.random.getrandbits(4 * size):0{size}x}"


def _pick(picker: Any, context: AttributePickerContext) -> Any:
    """Return the value under the first candidate name that exists, as moto does."""
    value = None
    for name in _names(picker, context):
        found = get_value(context.obj, name, MISSING)
        if found is not MISSING:
            value = found
            break
    transformers = picker.response_transformers
    if transformers and (path := f"{context.key_path}.{context.key}").endswith(tuple(transformers)):
        transform = next(function for end, function in transformers.items() if path.endswith(end))
        value = transform(value)
    return value


def _names(picker: Any, context: AttributePickerContext) -> Iterable[str]:
    """Return the candidate names, which depend on the value's place in the model and on its object's class."""
    kind = type(context.obj)
    if context.shape is None or hasattr(context.obj, "Meta"):
        names: Iterable[str] = picker.get_possible_keys(context)
        return names
    known = vars(context.shape).setdefault("names_of_values", {})
    key = (type(picker), kind, context.key)
    if key not in known:
        known[key] = tuple(picker.get_possible_keys(context))
    kept: tuple[str, ...] = known[key]
    return kept


def _of_one(describe_tags: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(describe_tags)
    def describe(backend: Any, filters: dict[str, list[str]] | None = None) -> Any:
        match filters:
            case {"resource-id": [str() as resource_id], **others} if (
                not others and resource_id.replace("-", "").isalnum()
            ):
                tags = backend.tags.get(resource_id, {})
                kind = ec2_utils.EC2_PREFIX_TO_RESOURCE.get(ec2_utils.get_prefix(resource_id), "")
                return [
                    {"resource_id": resource_id, "key": key, "value": value, "resource_type": kind}
                    for key, value in tags.items()
                ]
        return describe_tags(backend, filters=filters)

    return describe
