"""The response of a custom resource, as the module for inline code sends it."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from ultracluster_local.functions.lambda_harness import cfnresponse

CONTEXT = SimpleNamespace(log_stream_name="2026/11/22/[$LATEST]0")


@pytest.fixture
def sent() -> Iterator[tuple[dict[str, str], list[tuple[str, str, Any]]]]:
    """An event whose address keeps what is sent to it: method, content type and body."""
    received: list[tuple[str, str, Any]] = []

    class Keep(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            received.append((self.command, self.headers["Content-Type"], body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Keep) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        event = {
            "ResponseURL": f"http://127.0.0.1:{server.server_port}/answer?signature=x",
            "StackId": "stack",
            "RequestId": "request",
            "LogicalResourceId": "Thing",
        }
        yield event, received
        server.shutdown()
        thread.join()


def test_the_response_repeats_the_ids_of_the_request_and_has_the_data(sent: Any) -> None:
    event, received = sent

    cfnresponse.send(event, CONTEXT, cfnresponse.SUCCESS, {"Number": 4}, "made", noEcho=True, reason="done")

    # S3 accepts the address, which CloudFormation signs, only with an empty content type.
    assert received == [
        (
            "PUT",
            "",
            {
                "Status": "SUCCESS",
                "Reason": "done",
                "PhysicalResourceId": "made",
                "StackId": "stack",
                "RequestId": "request",
                "LogicalResourceId": "Thing",
                "NoEcho": True,
                "Data": {"Number": 4},
            },
        )
    ]


def test_without_an_id_or_a_reason_the_log_stream_is_named(sent: Any) -> None:
    event, received = sent

    cfnresponse.send(event, CONTEXT, cfnresponse.FAILED, {})

    ((_, _, body),) = received
    assert (body["Status"], body["PhysicalResourceId"]) == ("FAILED", CONTEXT.log_stream_name)
    assert body["Reason"] == f"See the details in CloudWatch Log Stream: {CONTEXT.log_stream_name}"
