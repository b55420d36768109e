"""The judge of every answer of the local AWS: botocore's models, which its handlers do not read when they answer."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from botocore.validate import ParamValidator
from moto.core.responses import ActionResult, BaseResponse

from ultracluster_local.instance.clients import service_model
from ultracluster_local.services import handlers, image_builder

__all__ = ["objections", "watch_answers"]


# The events of a stack have its own statuses too, though the model has only those of resources
# (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html).
_ALSO_ANSWERED = {"ResourceStatus": "StackStatus"}
# AWS leaves out members that its models require, such as the start of a job that waits, and answers empty lists.
_NOT_JUDGED = ("Missing required parameter", "Invalid length")


def _unknown_values(shape: Any, value: Any, path: str) -> Iterator[str]:
    if shape.type_name == "structure" and isinstance(value, Mapping):
        for name in value.keys() & shape.members.keys():
            yield from _unknown_values(shape.members[name], value[name], f"{path}.{name}")
    elif shape.type_name == "list" and isinstance(value, list):
        for one in value:
            yield from _unknown_values(shape.member, one, path)
    elif shape.type_name == "string" and shape.enum and value not in shape.enum:
        if shape.name == "RetryAction" and value.upper() in shape.enum:  # Batch answers it in small letters
            return
        other = _ALSO_ANSWERED.get(shape.name)
        if other and value in service_model("cloudformation").shape_for(other).enum:
            return
        yield f"{path}: {value!r} is none of {shape.enum}"


def objections(service: str, operation: str, answer: Mapping[str, Any]) -> Iterator[str]:
    """Return the members and values of an answer that the model of its service does not know."""
    shape = service_model(service).operation_model(operation).output_shape
    if shape is None:
        return
    for line in ParamValidator().validate(answer, shape).generate_report().splitlines():
        if not line.startswith(_NOT_JUDGED):
            yield f"{service} {operation}: {line}"
    yield from _unknown_values(shape, answer, f"{service} {operation}")


def watch_answers(patch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that fills with the objections to the answers of our handlers."""
    found: list[str] = []
    serialized = BaseResponse.serialized

    class Ours(ActionResult):  # type: ignore[misc]  # moto has no types
        pass

    def judged(response: Any, action: ActionResult) -> Any:
        if isinstance(action, Ours) and not isinstance(action.result, handlers.ServiceError):
            operation = response._get_action()
            found.extend(objections(response.boto3_service_name, operation, action.result))
        return serialized(response, action)

    patch.setattr(handlers, "ActionResult", Ours)
    patch.setattr(BaseResponse, "serialized", judged)
    for operation, handler in image_builder.handlers.table.items():  # the service that moto lacks

        def answer(request: Any, operation: str = operation, handler: Any = handler) -> Any:
            answer = handler(request)
            found.extend(objections("imagebuilder", operation, answer))
            return answer

        patch.setitem(image_builder.handlers.table, operation, answer)
    return found
