"""Error codes and messages in which moto differs from AWS: answers.toml lists them by service and by moto's message."""

import functools
import html
import json
import re
import tomllib
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from moto.core.responses import BaseResponse

from ultracluster_local.services.handlers import ServiceError, answered

__all__ = ["install"]

_TABLE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def install() -> None:
    """Replace moto's errors, after all checks."""
    BaseResponse.call_action = _reworded(BaseResponse.call_action)


def _reworded(call_action: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(call_action)
    def answer(response: Any) -> Any:
        status, headers, body = call_action(response)
        failed = int(headers.get("status", status)) >= HTTPStatus.BAD_REQUEST
        rules = _TABLE.get(response.boto3_service_name, {}) if failed else {}
        for pattern, (code, words) in rules.items():
            said = f"{response._get_action()}: {_message(body)}"  # noqa: SLF001 - moto has no public name for it
            if found := re.fullmatch(pattern, said, re.DOTALL):
                known = [name for name in headers if name.lower() == "x-amzn-errortype"]
                told = code or _code([headers[name] for name in known], body)
                for name in known:  # it is said once
                    response.response_headers.pop(name, None)
                return answered(response, ServiceError(told, found.expand(words)))
        return status, headers, body

    return answer


def _code(named: list[str], body: Any) -> str:
    """Return the code that moto has in a header, or in a body of JSON."""
    return (named or [str(json.loads(body)["__type"])])[0].rpartition("#")[2]


def _message(body: Any) -> str:
    text = body.decode() if isinstance(body, bytes) else str(body)
    if text.startswith("{"):
        said = json.loads(text)
        return str(said.get("message") or said.get("Message"))
    found = re.search("<Message>(.*?)</Message>", text, re.DOTALL)
    return html.unescape(found[1]) if found else ""
