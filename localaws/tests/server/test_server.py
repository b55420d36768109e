"""The server listens on this machine and refuses what it does not know."""

import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from ultracluster_local import LocalAws


@pytest.mark.slow
def test_listens_on_this_machine_only(local_aws: LocalAws) -> None:
    assert local_aws.endpoint.startswith("http://localhost:")
    port = int(local_aws.endpoint.rsplit(":", 1)[-1])
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("this machine has no address but the loopback one")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((own, port), timeout=2)


@pytest.mark.slow
def test_taken_port_is_an_error_and_no_exit(tmp_path: Path) -> None:
    code = """
import socket
from ultracluster_local.errors import LocalAwsError
from ultracluster_local import LocalAws
with socket.create_server(("127.0.0.1", 0)) as taken:
    try:
        LocalAws(port=taken.getsockname()[1]).start()
    except LocalAwsError as error:
        print(error.code)
with LocalAws() as local:
    directory = local._directory
    print(directory.exists())
print(directory.exists())
local.stop()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split() == ["UC8003", "True", "False"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("service", "call", "named"),
    [
        ("ec2", "describe_ipams", "DescribeIpams"),
        ("cloudformation", "list_stack_sets", "ListStackSets"),
        ("cloudwatch", "describe_anomaly_detectors", "DescribeAnomalyDetectors"),
        ("fsx", "describe_storage_virtual_machines", "DescribeStorageVirtualMachines"),
    ],
)
def test_unknown_call_is_refused_at_once_by_its_name(
    local_aws: LocalAws, service: str, call: str, named: str
) -> None:
    client = local_aws.client(service)
    began = time.monotonic()
    with pytest.raises(ClientError, match=named) as caught:
        getattr(client, call)()
    assert time.monotonic() - began < 2
    response: Any = caught.value.response
    assert response["Error"]["Code"] == "InvalidAction"
    assert 400 <= response["ResponseMetadata"]["HTTPStatusCode"] < 500


@pytest.mark.slow
def test_an_internal_failure_is_a_400_with_its_place(
    local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch
) -> None:
    from moto.sns.models import SNSBackend

    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("broken")

    monkeypatch.setattr(SNSBackend, "list_topics", broken)
    with pytest.raises(ClientError, match="KeyError") as caught:
        local_aws.client("sns").list_topics()
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
