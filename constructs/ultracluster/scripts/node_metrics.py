"""Publishes the metrics of this node, once a minute, as a log event in CloudWatch's embedded metric format.

It is part of a node's user data, of which there are 16 KiB, so it is short and has no annotations; comments and docstrings stay
behind. A node has Python 3.9 or newer, and no agent, SDK or way to download one that could be relied upon. The names of
the metrics are those of ultracluster_catalog.observability.metrics.
"""

# Unannotated, so that it stays small in user data; the tests run all of it.
# mypy: ignore-errors

import glob
import hashlib
import hmac
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

SET = os.environ.get
ROOT = SET("UC_ROOT", "")
BUSY_PERCENT = 5
LEAST_TCP_BYTES = 60_000_000  # per minute; lower values are not reported
LUSTRE = {"read_bytes": "LustreReadBytes", "write_bytes": "LustreWriteBytes"}
EFA = {
    "rx_bytes": "EfaBytes",
    "tx_bytes": "EfaBytes",
    "retrans_pkts": "EfaRetransmits",
    "rx_drops": "EfaDrops",
    "impaired_remote_conn_events": "EfaImpaired",
    "unresponsive_remote_events": "EfaImpaired",
}
# The runtime of Neuron writes what it asks for to the kernel log: ultracluster_catalog.observability.node_faults.
FAULT = re.compile(rb"NEURON_HW_ERR=(\w+)[^\n]*action=TERMINATE_INSTANCE")
ECC = ("mem_ecc_corrected", "sram_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_uncorrected")


def found(place):
    """Files on this node."""
    return glob.glob(ROOT + place)


def lines_of(path):
    """Return the words of each line of a file; nothing if it is gone."""
    try:
        with open(path) as file:
            return [line.replace(":", " ").split() for line in file]
    except OSError:
        return []


def inner(data, *names):
    """Return a nested value; an empty mapping if any key is missing."""
    for name in names:
        data = (data or {}).get(name)
    return data or {}


def digest(report):
    """Return the figures of one report of neuron-monitor."""
    cores, memory, errors, latency = {}, 0, 0, 0
    for runtime in report.get("neuron_runtime_data") or []:
        held = inner(runtime, "report", "neuroncore_counters", "neuroncores_in_use")
        for core, counts in held.items():
            cores[core] = max(cores.get(core, 0), counts.get("neuroncore_utilization") or 0)
        memory += (
            inner(runtime, "report", "memory_used", "neuron_runtime_used_bytes").get("neuron_device") or 0
        )
        stats = inner(runtime, "report", "execution_stats")
        errors += sum(inner(stats, "error_summary").values())
        latency = max(latency, inner(stats, "latency_stats", "device_latency").get("p50") or 0)
    devices = inner(report, "system_data", "neuron_hw_counters", "neuron_devices") or []
    ecc = [sum((device.get(name) or 0) for device in devices) for name in ECC]
    used = sum(cores.values()) / len(cores) if cores else 0
    return {"used": used, "memory": memory, "errors": errors, "latency": latency, "ecc": ecc}


def monitor(command, reports):
    """Read the reports of neuron-monitor, restarting it when it ends."""
    while True:
        try:
            with subprocess.Popen([command], stdout=subprocess.PIPE) as process:
                for line in process.stdout:
                    try:
                        reports.append(digest(json.loads(line)))
                    except (AttributeError, TypeError, ValueError):
                        continue
        except OSError as error:
            print("neuron-monitor:", error, file=sys.stderr)
        time.sleep(30)


def kernel_log():
    """Open the kernel log, from which each read takes a record; None if there is none."""
    try:
        return os.open(ROOT + "/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        print("kernel log:", error, file=sys.stderr)
        return None


def kernel_faults(log):
    """Return the faults in new records of the kernel log for which Neuron asks to end the instance."""
    faults = set()
    while log is not None:
        try:
            record = os.read(log, 8192)
        except BrokenPipeError:  # records were overwritten before they were read
            continue
        except OSError:  # no new ones
            break
        if not record:
            break
        faults |= {each.decode() for each in FAULT.findall(record)}
    return faults


def job_network():
    """Return the network namespace of a multi-node task here, and the bytes of its interfaces other than EFA."""
    for path in found("/proc/[0-9]*/environ"):
        folder = os.path.dirname(path)
        try:
            with open(path, "rb") as file:
                given = dict(each.partition(b"=")[::2] for each in file.read().split(b"\0"))
            if int(given.get(b"AWS_BATCH_JOB_NUM_NODES", 0)) > 1:
                rows = [row for row in lines_of(folder + "/net/dev")[2:] if row[0] != "lo"]
                return os.readlink(folder + "/ns/net"), sum(int(row[1]) + int(row[9]) for row in rows)
        except (OSError, ValueError):
            continue
    return None, 0


def counters():
    """Return the counters by name."""
    sums = dict.fromkeys([*EFA.values(), *LUSTRE.values()], 0)
    for file, name in EFA.items():
        for path in found("/sys/class/infiniband/*/ports/1/hw_counters/" + file):
            sums[name] += int(lines_of(path)[0][0])
    for place in ("/proc/fs/lustre", "/sys/kernel/debug/lustre"):
        for path in found(place + "/llite/*/stats"):
            for row in lines_of(path):
                if row and row[0] in LUSTRE and len(row) > 6:
                    sums[LUSTRE[row[0]]] += int(row[6])
    return sums


def host():
    """Return the gauges by name."""
    memory = {row[0]: int(row[1]) for row in lines_of(ROOT + "/proc/meminfo")}
    disks = [os.statvfs(ROOT + path) for path in ("/", SET("UC_SCRATCH_PATH", "/"))]
    return {
        "HostMemoryPercent": 100 * (1 - memory["MemAvailable"] / memory["MemTotal"]),
        "DiskPercent": max(100 * (1 - disk.f_bavail / disk.f_blocks) for disk in disks),
        "NeuronDevicesMissing": int(SET("UC_NEURON_DEVICES", "0")) - len(found("/dev/neuron[0-9]*")),
        "EfaDevicesMissing": int(SET("UC_EFA_DEVICES", "0")) - len(found("/dev/infiniband/uverbs[0-9]*")),
    }


class Node:
    """Computes the change of counters since the last minute."""

    def __init__(self):
        self.sums, self.network, self.ecc = counters(), job_network(), None
        self.log, self.faults = kernel_log(), set()

    def minute(self, reports):
        """Return the metrics since the last call, a minute ago."""
        sums, network = counters(), job_network()
        metrics = {"NodesReporting": 1, **host(), **{name: sums[name] - self.sums[name] for name in sums}}
        if network[0] and network[0] == self.network[0]:
            metrics["TcpBytes"] = network[1] - self.network[1]
        if reports:
            last = reports[-1]
            metrics["CoreUtilization"] = sum(each["used"] for each in reports) / len(reports)
            metrics["DeviceMemoryBytes"] = last["memory"]
            metrics["ExecutionErrors"] = sum(each["errors"] for each in reports)
            if last["latency"]:
                metrics["ExecutionSeconds"] = last["latency"]
            new = [max(0, a - b) for a, b in zip(last["ecc"], self.ecc or last["ecc"])]
            metrics["EccCorrected"], metrics["EccUncorrected"] = sum(new[:2]), sum(new[2:])
            self.faults |= {name for name, count in list(zip(ECC, new))[2:] if count}
            self.ecc = last["ecc"]
        # They stay: a node that had one is not trusted any more.
        self.faults |= kernel_faults(self.log)
        metrics["NodeFaults"] = len(self.faults)
        tcp = metrics.get("TcpBytes", 0)
        busy = metrics.get("CoreUtilization", 0) >= BUSY_PERCENT
        metrics["TcpFallback"] = int(busy and tcp >= LEAST_TCP_BYTES and metrics["EfaBytes"] < tcp / 100)
        self.sums, self.network = sums, network
        # Counters restart at 0 when the driver is reloaded.
        return {name: max(0, round(value, 6)) for name, value in metrics.items()}


def unit(name):
    """Return the unit of a metric, from the end of its name."""
    return next((each for each in ("Bytes", "Percent", "Seconds") if name.endswith(each)), "Count")


def embedded(metrics, instance, now, faults=()):
    """Return a log event. The instance is a property, not a dimension, which would add a paid metric per node."""
    named = [{"Name": name, "Unit": "Percent" if "Util" in name else unit(name)} for name in metrics]
    directive = {"Namespace": "UltraCluster", "Dimensions": [["Cluster"]], "Metrics": named}
    about = {"Timestamp": now, "CloudWatchMetrics": [directive]}
    which = {"Cluster": SET("UC_CLUSTER"), "InstanceId": instance, "Faults": sorted(faults)}
    return json.dumps({"_aws": about, **which, **metrics})


def signed(body, target, server, region, keys, moment):
    """Return the headers of a request to CloudWatch Logs, signed with AWS Signature Version 4."""
    headers = {
        "content-type": "application/x-amz-json-1.1",
        "host": server,
        "x-amz-date": moment,
        "x-amz-security-token": keys["Token"],
        "x-amz-target": "Logs_20140328." + target,
    }
    names = ";".join(headers)
    rows = "".join(name + ":" + value + "\n" for name, value in headers.items())
    request = "\n".join(["POST", "/", "", rows, names, hashlib.sha256(body).hexdigest()])
    scope = "/".join([moment[:8], region, "logs", "aws4_request"])
    text = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(request.encode()).hexdigest()])
    key = ("AWS4" + keys["SecretAccessKey"]).encode()
    for part in (*scope.split("/"), text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    who = "AWS4-HMAC-SHA256 Credential=" + keys["AccessKeyId"] + "/" + scope
    return {**headers, "authorization": who + ", SignedHeaders=" + names + ", Signature=" + key.hex()}


def answer(url, body=None, headers=None, method=None):
    """Return the response of an HTTP server."""
    request = urllib.request.Request(url, body, headers or {}, method=method)
    with urllib.request.urlopen(request, timeout=10) as reply:
        return reply.read().decode()


def metadata(path):
    """Return instance metadata."""
    place = SET("UC_METADATA", "http://169.254.169.254") + "/latest/"
    token = answer(place + "api/token", headers={"X-aws-ec2-metadata-token-ttl-seconds": "60"}, method="PUT")
    return answer(place + "meta-data/" + path, headers={"X-aws-ec2-metadata-token": token})


def call(target, **request):
    """Call CloudWatch Logs with the role of the node."""
    role = "iam/security-credentials/"
    keys = json.loads(metadata(role + metadata(role).split()[0]))
    url, body = SET("UC_LOGS_URL"), json.dumps(request).encode()
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    answer(url, body, signed(body, target, url.partition("://")[2], SET("UC_REGION"), keys, moment))


def publish(metrics, instance, faults=()):
    """Send a log event; the first one creates the log stream of this node."""
    now = int(time.time() * 1000)
    place = {"logGroupName": SET("UC_LOG_GROUP"), "logStreamName": instance}
    event = {"timestamp": now, "message": embedded(metrics, instance, now, faults)}
    try:
        call("PutLogEvents", **place, logEvents=[event])
    except urllib.error.HTTPError as error:
        if b"ResourceNotFound" not in error.read():
            raise
        call("CreateLogStream", **place)
        call("PutLogEvents", **place, logEvents=[event])


def main():
    """Publish once a minute."""
    reports, instance, node = [], None, Node()
    command = SET("UC_NEURON_MONITOR", "/opt/aws/neuron/bin/neuron-monitor")
    if os.path.exists(command):
        threading.Thread(target=monitor, args=(command, reports), daemon=True).start()
    while True:
        time.sleep(60 - time.time() % 60)
        try:
            instance = instance or metadata("instance-id")
            taken, reports[:] = reports[:], []
            publish(node.minute(taken), instance, node.faults)
        except (OSError, KeyError, ValueError, IndexError) as error:
            print("not published:", error, file=sys.stderr)


if __name__ == "__main__":
    main()
