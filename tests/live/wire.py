"""Every call of a run: counted against its reservation before it is sent, and recorded."""

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["SPENDING", "OutsideReservationError", "Wire"]

SPENDING: Final[Mapping[str, str]] = {
    "PurchaseCapacityBlock": "buys",
    "PurchaseCapacityBlockExtension": "buys",
    "RunInstances": "nodes",
    "CreateCapacityReservation": "",
    "CreateFileSystem": "",
    "CreateFleet": "",
    "CreateStack": "",
    "StartImagePipelineExecution": "",
    "SubmitJob": "",
    "SubmitServiceJob": "",
}
"""Calls after which something costs, and what of a question counts them, if anything does."""

_LONGEST: Final = 20_000


class OutsideReservationError(BaseException):
    """A call that would spend what its question did not reserve. No question may catch it."""


class Wire:
    """Hooks of botocore for the session of a run.

    Args:
        session: boto3 session whose clients are made later.
        before_spending: Called with operation and parameters before a call that spends is sent.
    """

    def __init__(self, session: Any, before_spending: Callable[[str, Mapping[str, Any]], None]) -> None:
        self._before_spending = before_spending
        self.calls: list[dict[str, Any]] = []
        session.events.register("provide-client-params", self._note)
        session.events.register("before-call", self._before)
        session.events.register("after-call", self._after)

    def _note(self, params: Any, context: Any, **_: Any) -> None:
        context["live"] = copy.deepcopy(params)

    def _before(self, model: Any, context: Any, **_: Any) -> None:
        request = context.get("live", {})
        if model.name in SPENDING and not request.get("DryRun"):
            self._before_spending(model.name, request)

    def _after(self, parsed: Any, model: Any, context: Any, **_: Any) -> None:
        error = parsed.get("Error")
        answer = {key: value for key, value in parsed.items() if key != "ResponseMetadata"}
        self.calls.append(
            {
                "service": model.service_model.service_name,
                "operation": model.name,
                "region": context.get("client_region", ""),
                "request": _plain(context.get("live", {})),
                "response": {} if error else _plain(answer),
                "error": {key: str(error.get(key, "")) for key in ("Code", "Message")} if error else {},
            }
        )


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; what is very long is left out."""
    text = json.dumps(
        value,
        default=lambda other: other.decode("utf-8", "replace") if isinstance(other, bytes) else str(other),
    )
    return {"left out": f"{len(text)} characters"} if len(text) > _LONGEST else json.loads(text)
