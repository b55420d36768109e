"""Services that moto lacks entirely: requests of the REST-JSON protocol, parsed by botocore's model of the service.

moto does not know their paths, so the server tries them first.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qs

from ultracluster_local.instance.clients import service_model
from ultracluster_local.services.handlers import Handlers, Request, ServiceError

__all__ = ["CREDENTIAL", "RestJsonServices"]

CREDENTIAL = re.compile(r"Credential=(?P<key>[^/]+)/[0-9]{8}/(?P<region>[^/]+)/(?P<service>[^/]+)/")


class RestJsonServices:
    """Dispatcher to the handlers of several services.

    Args:
        services: Handlers of each service.
    """

    def __init__(self, *services: Handlers) -> None:
        self._services = {one.service: one for one in services}

    def answer(self, environ: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """Return the error code (empty on success) and the body of the response; None for other services.

        Args:
            environ: WSGI environment of the request.
        """
        signed = CREDENTIAL.search(environ.get("HTTP_AUTHORIZATION", ""))
        if signed is None or signed["service"] not in self._services:
            return None
        service = signed["service"]
        path = environ["PATH_INFO"]
        for operation, method, pattern in _routes(service):
            match = pattern.fullmatch(path)
            if match and method == environ["REQUEST_METHOD"]:
                handler = self._services[service].table.get(operation)
                if handler is None:
                    return "InvalidAction", {"message": f"The local AWS has no {service} {operation}"}
                parameters = _parameters(service, operation, match.groupdict(), environ)
                try:
                    request = Request(operation=operation, parameters=parameters, region=signed["region"])
                    return "", dict(handler(request))
                except ServiceError as error:
                    return error.code, {"message": str(error.message)}
        problem = f"The local AWS has no {service} {environ['REQUEST_METHOD']} {path}"
        return "InvalidAction", {"message": problem}


@cache
def _routes(service: str) -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    model = service_model(service)
    routes = []
    for name in model.operation_names:
        http = model.operation_model(name).http
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(http["requestUri"]))
        routes.append((name, http["method"], re.compile(pattern)))
    return tuple(routes)


def _parameters(
    service: str, operation: str, in_path: Mapping[str, str], environ: Mapping[str, Any]
) -> dict[str, Any]:
    shape = service_model(service).operation_model(operation).input_shape
    found: dict[str, Any] = {}
    query = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
    length = int(environ.get("CONTENT_LENGTH") or 0)
    body = json.loads(environ["wsgi.input"].read(length)) if length else {}
    for name, member in shape.members.items():
        place = member.serialization.get("location")
        wire = member.serialization.get("name", name)
        if place == "uri" and wire in in_path:
            found[name] = in_path[wire]
        elif place == "querystring" and wire in query:
            found[name] = query[wire] if member.type_name == "list" else query[wire][0]
        elif place is None and wire in body:
            found[name] = body[wire]
    return found
