"""The service of the metrics runs here for real, in a folder instead of /.

The reports are made by hand after neuron-monitor's documented format (Neuron Monitor User Guide, read 2026-11-21); none was
recorded on a node.
"""

import ast
import http.server
import importlib.util
import io
import json
import os
import threading
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from ultracluster_catalog.observability.metrics import METRICS
from ultracluster_catalog.observability.node_faults import HARDWARE_ERROR, MEMORY_FAULTS, REPLACE_ACTION

SOURCE = Path(__file__).parents[3] / "constructs/ultracluster/scripts/node_metrics.py"
Write = Callable[[str, str], None]


def report(*, cores: dict[str, float] | None = None, corrected: int = 0, uncorrected: int = 0) -> Any:
    runtime = {
        "pid": 4711,
        "report": {
            "execution_stats": {
                "period": 5.0,
                "error_summary": {"generic": 0, "numerical": 0, "hardware": 0},
                "latency_stats": {
                    "total_latency": {"p50": 0.02},
                    "device_latency": {"p0": 0.01, "p50": 0.0125, "p100": 0.02},
                },
                "error": "",
            },
            "memory_used": {
                "neuron_runtime_used_bytes": {"host": 100, "neuron_device": 2_000_000},
                "error": "",
            },
            "neuroncore_counters": {
                "period": 5.0,
                "neuroncores_in_use": {
                    core: {"neuroncore_utilization": used} for core, used in (cores or {}).items()
                },
                "error": "",
            },
        },
    }
    device = {
        "neuron_device_index": 0,
        "mem_ecc_corrected": corrected,
        "mem_ecc_uncorrected": uncorrected,
        "sram_ecc_corrected": 0,
        "sram_ecc_uncorrected": 0,
    }
    return {
        "neuron_runtime_data": [runtime] if cores is not None else [],
        "system_data": {"neuron_hw_counters": {"period": 5.0, "neuron_devices": [device], "error": ""}},
    }


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(path: str, content: str) -> None:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)

    put("proc/meminfo", "MemTotal:  2000 kB\nMemAvailable:  500 kB\nHugePages_Total: 0\n")
    for index in range(16):
        put(f"dev/neuron{index}", "")
        put(f"dev/infiniband/uverbs{index}", "")
    return put


@pytest.fixture
def service(tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ARG001 - the node's folder
    settings = {
        "UC_ROOT": str(tmp_path),
        "UC_CLUSTER": "pretrain",
        "UC_NEURON_DEVICES": "16",
        "UC_EFA_DEVICES": "16",
        "UC_LOG_GROUP": "nodes",
        "UC_REGION": "us-east-2",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    spec = importlib.util.spec_from_file_location("node_metrics", SOURCE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def efa(write: Write, *, sent: int, card: int = 0, again: int = 0) -> None:
    counters = {"tx_bytes": sent, "rx_bytes": 0, "retrans_pkts": again, "rx_drops": 0}
    for name, value in counters.items():
        write(f"sys/class/infiniband/rdmap{card}s0/ports/1/hw_counters/{name}", f"{value}\n")


def job(tmp_path: Path, write: Write, *, received: int, nodes: int = 4) -> None:
    write("proc/99/environ", f"A=1\0AWS_BATCH_JOB_NUM_NODES={nodes}\0")
    header = "Inter-|   Receive  |  Transmit\n face |bytes packets |bytes packets\n"
    row = "{}: {} 1 0 0 0 0 0 0 1000 1 0 0 0 0 0 0\n"
    write("proc/99/net/dev", header + row.format("    lo", 10 * received) + row.format("  eth0", received))
    if not (tmp_path / "proc/99/ns/net").is_symlink():
        (tmp_path / "proc/99/ns").mkdir(exist_ok=True)
        (tmp_path / "proc/99/ns/net").symlink_to("net:[4026532001]")


def test_utilisation_is_the_mean_over_cores_that_are_held_and_over_the_reports(service: Any) -> None:
    first = service.digest(report(cores={"0": 80, "1": 100}))
    second = service.digest(report(cores={"0": 0, "1": 20}))
    metrics = service.Node().minute([first, second])
    assert metrics["CoreUtilization"] == 50
    assert (metrics["DeviceMemoryBytes"], metrics["ExecutionSeconds"]) == (2_000_000, 0.0125)


def test_a_node_on_which_nothing_runs_is_idle_and_one_without_neuron_monitor_reports_nothing(
    service: Any,
) -> None:
    assert service.Node().minute([service.digest(report())])["CoreUtilization"] == 0
    assert "CoreUtilization" not in service.Node().minute([])


def test_what_only_grows_is_counted_since_the_last_minute(service: Any, write: Write) -> None:
    stats = "snapshot_time 1 secs.usecs\nread_bytes 9 samples [bytes] 1 2 {}\nwrite_bytes 9 samples [bytes] 1 2 {}\n"
    efa(write, sent=1000)
    efa(write, sent=10, card=1)
    write("proc/fs/lustre/llite/abc-ffff/stats", stats.format(500, 50))
    node = service.Node()
    first = node.minute([])
    assert (first["EfaBytes"], first["LustreReadBytes"]) == (0, 0)
    efa(write, sent=4000, again=7)
    efa(write, sent=20, card=1)
    write("proc/fs/lustre/llite/abc-ffff/stats", stats.format(700, 51))
    second = node.minute([])
    assert (second["EfaBytes"], second["EfaRetransmits"]) == (3010, 7)
    assert (second["LustreReadBytes"], second["LustreWriteBytes"]) == (200, 1)
    efa(write, sent=0)
    assert node.minute([])["EfaBytes"] == 0  # a driver that was loaded anew


def test_ecc_events_are_those_since_the_last_report(service: Any) -> None:
    node = service.Node()
    assert node.minute([service.digest(report(uncorrected=3))])["EccUncorrected"] == 0
    after = node.minute(
        [
            service.digest(report(uncorrected=3, corrected=2)),
            service.digest(report(uncorrected=4, corrected=2)),
        ]
    )
    assert (after["EccUncorrected"], after["EccCorrected"]) == (1, 2)


def test_devices_that_are_gone_are_missing(service: Any, tmp_path: Path) -> None:
    assert service.Node().minute([])["EfaDevicesMissing"] == 0
    (tmp_path / "dev/infiniband/uverbs3").unlink()
    (tmp_path / "dev/neuron5").unlink()
    metrics = service.Node().minute([])
    assert (metrics["EfaDevicesMissing"], metrics["NeuronDevicesMissing"]) == (1, 1)


def test_memory_and_disk_are_percentages(service: Any) -> None:
    metrics = service.Node().minute([])
    assert metrics["HostMemoryPercent"] == 75
    assert 0 <= metrics["DiskPercent"] <= 100


@pytest.mark.parametrize(
    ("seen", "fallback"),
    [
        ({}, 1),
        ({"fabric": 599_999}, 1),
        ({"fabric": 600_000}, 0),
        ({"tcp": 59_999_999}, 0),
        ({"used": 4.9}, 0),
        ({"nodes": 1}, 0),
    ],
)
def test_busy_nodes_of_one_job_that_talk_past_efa_have_fallen_back_to_tcp(
    service: Any, tmp_path: Path, write: Write, seen: dict[str, Any], fallback: int
) -> None:
    has = {"used": 90, "tcp": 60_000_000, "fabric": 0, "nodes": 4} | seen
    efa(write, sent=5)
    job(tmp_path, write, received=0, nodes=has["nodes"])
    node = service.Node()
    efa(write, sent=5 + has["fabric"])
    job(tmp_path, write, received=has["tcp"], nodes=has["nodes"])
    assert node.minute([service.digest(report(cores={"0": has["used"]}))])["TcpFallback"] == fallback


def test_publishes_metrics_of_the_catalogue_in_its_units_with_the_cluster_as_only_dimension(
    service: Any, tmp_path: Path, write: Write
) -> None:
    efa(write, sent=0)
    job(tmp_path, write, received=1)
    metrics = service.Node().minute([service.digest(report(cores={"0": 50}))])
    event = json.loads(service.embedded(metrics, "i-0123", 1_700_000_000_000))
    (directive,) = event["_aws"]["CloudWatchMetrics"]
    assert (directive["Namespace"], directive["Dimensions"]) == ("UltraCluster", [["Cluster"]])
    published = {each["Name"]: each["Unit"] for each in directive["Metrics"]}
    assert published == {each.name: each.unit for each in METRICS.values() if each.source == "node"}
    assert event["Cluster"] == "pretrain"
    assert event["InstanceId"] == "i-0123"
    assert all(isinstance(event[name], int | float) for name in published)


FAULT = "3,1,2,-;NEURON_HW_ERR={} instance-id=i-1 nd-id=0 nc-id=0 action={}\n"


def test_faults_for_which_neuron_asks_to_end_the_instance_stay_and_others_are_not_counted(
    service: Any, write: Write
) -> None:
    repairable = FAULT.format("REPAIRABLE_HBM_UNCORRECTABLE_ERROR", "RELOAD_DRIVER")
    write("dev/kmsg", f"6,1,1,-;neuron: loaded\n{repairable}")
    node = service.Node()
    assert node.minute([])["NodeFaults"] == 0
    write("dev/kmsg", f"6,1,1,-;neuron: loaded\n{repairable}{FAULT.format('DMA_ERROR', REPLACE_ACTION)}")
    assert (node.minute([])["NodeFaults"], node.faults) == (1, {"DMA_ERROR"})
    assert node.minute([])["NodeFaults"] == 1  # also when the log has nothing new
    assert json.loads(service.embedded({}, "i-1", 1, node.faults))["Faults"] == ["DMA_ERROR"]
    assert service.FAULT.pattern.decode().startswith(HARDWARE_ERROR)


def test_uncorrectable_errors_are_a_fault_when_they_grow_and_corrected_ones_are_none(service: Any) -> None:
    node = service.Node()
    node.minute([service.digest(report(uncorrected=7))])  # of before this service was started
    assert node.minute([service.digest(report(uncorrected=7, corrected=90))])["NodeFaults"] == 0
    grown = node.minute([service.digest(report(uncorrected=8, corrected=90))])
    assert (grown["NodeFaults"], grown["EccUncorrected"], grown["EccCorrected"]) == (1, 1, 0)
    assert node.faults == {MEMORY_FAULTS[0]}
    assert node.minute([service.digest(report())])["NodeFaults"] == 1  # the driver was loaded again


def test_connections_of_efa_that_suffer_are_counted_and_are_no_fault(service: Any, write: Write) -> None:
    place = "sys/class/infiniband/rdmap0s0/ports/1/hw_counters/"
    for name in ("impaired_remote_conn_events", "unresponsive_remote_events"):
        write(place + name, "1\n")
    node = service.Node()
    write(place + "impaired_remote_conn_events", "4\n")
    write(place + "unresponsive_remote_events", "6\n")
    metrics = node.minute([])
    assert (metrics["EfaImpaired"], metrics["NodeFaults"]) == (8, 0)


@pytest.mark.parametrize("line", ["", "[]", "{", '{"neuron_runtime_data": [1]}', "null"])
def test_a_report_that_cannot_be_read_is_left_out(
    service: Any, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ended(Exception):  # noqa: N818 - the end of the loop
        pass

    def sleep(_: float) -> None:
        raise Ended

    monitor = type("Process", (), {"__enter__": lambda self: self, "__exit__": lambda *_: None})()
    monitor.stdout = io.BytesIO(f"{line}\n{json.dumps(report(cores={'0': 1}))}\n".encode())
    monkeypatch.setattr(service.subprocess, "Popen", lambda *_, **__: monitor)
    monkeypatch.setattr(service.time, "sleep", sleep)
    reports: list[Any] = []
    with pytest.raises(Ended):
        service.monitor("neuron-monitor", reports)
    assert [each["used"] for each in reports][-1] == 1


def test_signs_as_botocore_does(service: Any) -> None:
    keys = {
        "AccessKeyId": "AKIDEXAMPLE",
        "SecretAccessKey": "wJalrXUtnFEMI/K7MDENG",
        "Token": "session/token==",
    }
    body = b'{"logGroupName": "nodes"}'
    ours = service.signed(
        body, "PutLogEvents", "logs.us-east-2.amazonaws.com", "us-east-2", keys, "20261121T203000Z"
    )
    request = AWSRequest(
        method="POST",
        url="https://logs.us-east-2.amazonaws.com",
        data=body,
        headers={name: ours[name] for name in ("content-type", "x-amz-target")},
    )
    signer = SigV4Auth(
        Credentials(keys["AccessKeyId"], keys["SecretAccessKey"], keys["Token"]), "logs", "us-east-2"
    )
    request.context["timestamp"] = "20261121T203000Z"
    request.headers["X-Amz-Date"] = "20261121T203000Z"
    request.headers["X-Amz-Security-Token"] = keys["Token"]
    canonical = signer.canonical_request(request)
    signature = signer.signature(signer.string_to_sign(request, canonical), request)
    assert ours["authorization"].endswith(f"Signature={signature}")
    assert f"SignedHeaders={signer.signed_headers(signer.headers_to_sign(request))}," in ours["authorization"]


@pytest.fixture
def aws(service: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, Any]]]:  # noqa: ARG001 - its settings
    """The metadata service and CloudWatch Logs on this machine; gives the calls that Logs got."""
    calls: list[tuple[str, Any]] = []
    known = {
        "/latest/meta-data/instance-id": "i-0123",
        "/latest/meta-data/iam/security-credentials/": "NodeRole",
        "/latest/meta-data/iam/security-credentials/NodeRole": json.dumps(
            {"AccessKeyId": "A", "SecretAccessKey": "S", "Token": "T"}
        ),
    }

    class Server(http.server.BaseHTTPRequestHandler):
        def reply(self, status: int, text: str) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def do_PUT(self) -> None:
            self.reply(200, "token" if self.headers["X-aws-ec2-metadata-token-ttl-seconds"] else "")

        def do_GET(self) -> None:
            ok = self.headers["X-aws-ec2-metadata-token"] == "token" and self.path in known
            self.reply(200 if ok else 401, known.get(self.path, ""))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            calls.append((self.headers["X-Amz-Target"].rpartition(".")[2], body))
            new = calls[-1][0] == "PutLogEvents" and "CreateLogStream" not in [name for name, _ in calls]
            self.reply(400 if new else 200, '{"__type": "ResourceNotFoundException"}' if new else "{}")

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("UC_METADATA", url)
    monkeypatch.setenv("UC_LOGS_URL", url)
    yield calls
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_first_event_makes_the_log_stream_and_the_next_only_follows(
    service: Any, aws: list[tuple[str, Any]]
) -> None:
    assert service.metadata("instance-id") == "i-0123"
    for value in (1, 2):
        service.publish({"NodesReporting": value}, "i-0123")
    assert [name for name, _ in aws] == ["PutLogEvents", "CreateLogStream", "PutLogEvents", "PutLogEvents"]
    assert aws[1][1] == {"logGroupName": "nodes", "logStreamName": "i-0123"}
    (event,) = aws[3][1]["logEvents"]
    assert json.loads(event["message"])["NodesReporting"] == 2


def test_another_refusal_is_not_hidden(service: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise urllib.error.HTTPError("", 400, "", None, io.BytesIO(b"AccessDeniedException"))  # type: ignore[arg-type]

    monkeypatch.setattr(service, "call", refuse)
    with pytest.raises(urllib.error.HTTPError):
        service.publish({}, "i-0123")


def test_the_source_is_one_for_the_oldest_python_of_a_node() -> None:
    ast.parse(SOURCE.read_text(), feature_version=(3, 9))
    assert os.access(SOURCE, os.R_OK)
