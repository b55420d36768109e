"""Functions of custom resources run their code against the local AWS."""

import shutil
from typing import Any

import pytest
from tests.cloudformation.custom_templates import custom

pytestmark = pytest.mark.slow


def test_function_sees_the_local_aws_and_no_variable_of_ours(
    stacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "secret")
    code = """
import os, cfnresponse
def handler(event, context):
    said = os.environ["AWS_ENDPOINT_URL"] + " " + os.environ.get("AWS_SESSION_TOKEN", "none")
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {"Request": said, "Number": "1"})
"""
    stacks.create("one", custom(code, Number=1))
    endpoint, token = stacks.outputs("one")["Request"].split()
    assert endpoint == stacks.local.endpoint
    assert token != "secret"  # but that of a session of its role


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not on PATH; run `make env`")
def test_node_handler_runs_and_answers_by_https_as_the_handlers_of_the_cdk_do(stacks: Any) -> None:
    code = """
const https = require('https');
exports.handler = (event) => new Promise((resolve, reject) => {
  const body = JSON.stringify({ ...event, Status: 'SUCCESS', PhysicalResourceId: 'node', Data: { Request: 'node', Number: '1' } });
  const url = new URL(event.ResponseURL);
  const request = https.request({ hostname: url.hostname, path: url.pathname, method: 'PUT',
    headers: { 'content-length': Buffer.byteLength(body) } }, (response) => { response.resume(); resolve(); });
  request.on('error', reject);
  request.end(body);
});
"""
    assert stacks.create("one", custom(code, runtime="nodejs22.x", Number=1)) == "CREATE_COMPLETE"
    assert stacks.ids("one")["Thing"] == "node"
