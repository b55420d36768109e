"""Every call of a live test: counted against its reservation before it is sent, and recorded."""

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

__all__ = ["SPENDING", "Call", "OutsideReservationError", "Wire"]

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
    """A call that would spend what its question did not reserve. No test may catch it."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call.

    Attributes:
        service: Service as boto3 names it.
        operation: Operation of the API.
        region: Region.
        request: Parameters.
        response: Response without metadata; empty if it was refused.
        error: Code and message of a refusal; empty if there was none.
    """

    service: str
    operation: str
    region: str
    request: dict[str, Any]
    response: dict[str, Any]
    error: dict[str, str]


@dataclass
class Wire:
    """Hooks of botocore for the sessions of a run.

    Attributes:
        before_spending: Called with operation and number before a call that spends is sent.
        calls: Calls since the last question began.
    """

    before_spending: Callable[[str, int], None]
    calls: list[Call] = field(default_factory=list)

    def attach(self, session: Any) -> None:
        """Watch the clients of a boto3 session.

        Args:
            session: Session whose clients are made later.
        """
        session.events.register("provide-client-params", self._note)
        session.events.register("before-call", self._before)
        session.events.register("after-call", self._after)

    def _note(self, params: Any, context: Any, **_: Any) -> None:
        context["live"] = copy.deepcopy(params)

    def _before(self, model: Any, context: Any, **_: Any) -> None:
        request = context.get("live", {})
        if model.name in SPENDING and not request.get("DryRun"):
            self.before_spending(model.name, int(request.get("MaxCount", 1)))

    def _after(self, parsed: Any, model: Any, context: Any, **_: Any) -> None:
        request = context.get("live", {})
        service = model.service_model.service_name
        response = {key: value for key, value in parsed.items() if key not in {"ResponseMetadata", "Error"}}
        self.calls.append(
            Call(
                service=service,
                operation=model.name,
                region=context.get("client_region", ""),
                request=_plain(request),
                response={} if "Error" in parsed else _plain(response),
                error={key: str(parsed["Error"].get(key, "")) for key in ("Code", "Message")}
                if "Error" in parsed
                else {},
            )
        )


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; what is very long is left out."""
    text = json.dumps(
        value,
        default=lambda other: other.decode("utf-8", "replace") if isinstance(other, bytes) else str(other),
    )
    return {"left out": f"{len(text)} characters"} if len(text) > _LONGEST else json.loads(text)
