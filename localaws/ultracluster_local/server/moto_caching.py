"""What moto works out again for each request, worked out once: a third of the time of a deployment."""

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
    """Let moto do this work once: what it answers stays the same."""
    # moto lists its folder and the methods of a class for each request.
    backends.list_of_moto_modules = functools.cache(_listed(backends.list_of_moto_modules))
    responses.method_names_from_class = functools.cache(responses.method_names_from_class)
    # It tries a pattern of each service on the host of each request.
    DomainDispatcherApplication.get_backend_for_host = _by_host(
        DomainDispatcherApplication.get_backend_for_host
    )
    # A Region is born with a thousand public AMIs, each with ids of its own.
    ec2_utils.random_resource_id = _random_digits
    # For each value of each answer it makes up the names that the value may be kept under.
    AttributePicker.__call__ = functools.wraps(AttributePicker.__call__)(_pick)
    # To show the tags of one thing, it looks through those of all things.
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
    """Find a value under the first of its possible names, as moto does."""
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
    """The possible names follow from the value's place in the model and from the class that holds it."""
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
