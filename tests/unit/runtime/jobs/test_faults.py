"""Each known fault is found by words that AWS, Neuron and others use, and no line counts for two."""

import pytest
from tests.unit.runtime.jobs.recorded_jobs import CAUSES

from ultracluster_runtime.jobs.faults import EXIT_CODES, FAULTS, exit_code, find_faults

# Lines that show faults which causes.yaml has no job for.
LINES = {
    "image-not-pulled": "CannotPullContainerError: unexpected EOF",
    "neuron-driver-too-old": "ERROR NRT:nrt_init This runtime requires Neuron Driver version 2.0 or greater.",
    "device-timeout": "nrt_execute status=5 NRT_TIMEOUT",
    "not-a-number": "nrtd[1]: Error notifications found on NC 0 INFER_ERROR_SUBTYPE_NUMERICAL",
    "collectives-missing": "NCCL init error: Error opening libnccom.so, cannot use collective operations!",
    "wrong-interface": "No interface found in the same subnet as remote address fe80::1461:22ff:fe33:b471<45015>",
    "waits-for-other-nodes": "Timeout waiting for RX (waited 120 sec) - retrying",
    "rendezvous-failed": "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError",
    "port-in-use": "[Errno 98] Address already in use",
    "quota-exceeded": "OSError: [Errno 122] Disk quota exceeded: '/fsx/x'",
    "file-system-disconnected": "OSError: [Errno 108] Cannot send after transport endpoint shutdown",
    "too-many-open-files": "OSError: [Errno 24] Too many open files: '/fsx/shard-1'",
}


def lines_of_causes() -> list[str]:
    texts = []
    for cause in CAUSES:
        for said in [cause, *cause.get("nodes", [])]:
            texts += [said.get("reason", ""), said.get("status_reason", ""), *said.get("log", [])]
    return texts


def test_every_fault_is_found_by_a_line_that_shows_it() -> None:
    found = {fault.name for fault, _ in find_faults([*lines_of_causes(), *LINES.values()])}
    assert found == {fault.name for fault in FAULTS}


@pytest.mark.parametrize("name", LINES)
def test_a_line_counts_for_its_fault(name: str) -> None:
    ((fault, line),) = find_faults(["step 1 loss 2.3", LINES[name]])
    assert (fault.name, line) == (name, LINES[name])


@pytest.mark.parametrize(
    "line",
    [
        "step 403 loss 2.31 tokens/s 12000",
        "saved /fsx/run-1/step-70.pt",
        "Selected Provider is efa (found 16 nics)",
        "Initialized NET plugin Libfabric",
        "memory: 12 GB of 16 GB",
        "Compiler status PASS",
    ],
)
def test_a_healthy_line_shows_no_fault(line: str) -> None:
    assert find_faults([line]) == []


def test_a_fault_is_found_once_with_its_first_line() -> None:
    found = find_faults(["first [Errno 28]", "[Errno 24]", "second [Errno 28]"])
    assert [(fault.name, line) for fault, line in found] == [
        ("file-system-full", "first [Errno 28]"),
        ("too-many-open-files", "[Errno 24]"),
    ]


def test_names_are_unique_and_every_row_has_a_source() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert len({known.code for known in EXIT_CODES}) == len(EXIT_CODES)
    ours = "constructs/ultracluster_catalog/names/launcher.py"
    sources = {row.source for row in (*FAULTS, *EXIT_CODES)} - {ours}
    assert all(source.startswith("https://") for source in sources)


def test_an_unknown_exit_code_has_no_meaning() -> None:
    assert exit_code(42) is None
