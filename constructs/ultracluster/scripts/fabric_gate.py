"""Reject a fabric on which training would hang, silently fall back to TCP, or compute wrong sums.

The launcher starts it on every node of a job. Each node counts its EFA interfaces, as libfabric sees them, and reports to the
main node. Only the main node's failure fails a job of AWS Batch, so it decides for all. Then it runs nccom-test over all
nodes; where that fails, over groups of 2, 4, 8 and more, to name those that fail. It is part of the job definition, so it is
short and has no annotations; comments and docstrings stay behind.
"""

# Unannotated, so that it stays small in the job definition; the tests run all of it.
# mypy: ignore-errors

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# 1 KiB measures latency and 1 GiB bandwidth; 1 MiB is between them.
SIZES = "--minbytes 1024 --maxbytes 1073741824 --stepfactor 1024"
# Sums are compared at 1 MiB: nccom-test computes those that it expects on the CPU, from the data of all ranks. A value could
# follow --check in newer releases, so another option follows it.
CHECK = "--minbytes 1048576 --maxbytes 1048576 --check"
ROW = re.compile(r"^\s*(\d+)\s+\d+\s+\w+\s+([\d.]+)\s+[\d.]+\s+([\d.]+)\s*$", re.MULTILINE)
# Open MPI warns of a setpgid that failed, which changes nothing.
WRONG = re.compile("(?im)^(?!.*warning:).*(errors? found|fail|mismatch|incorrect)")
# efa: interfaces of each node; ranks: of each node, 0 to count the interfaces only; bandwidth: least GiB/s at 1 GiB; latency:
# most microseconds at 1 KiB; patience: seconds, for nodes and for nccom-test; group: fewest nodes for nccom-test.
WANTED = {name: float(value) for name, value in (word.split("=") for word in sys.argv[1:])}
PATIENCE = WANTED["patience"]


def main():
    """Check this node and, on the main node, decide for all nodes."""
    own, count = efa_problem(), int(os.environ["NNODES"])
    if own:
        say(f"node {os.environ['NODE_RANK']}: {own}")
    if os.environ["NODE_RANK"] != "0":
        return ask(f"report {own}")["code"]
    reports = ask(f"nodes {PATIENCE}")["nodes"] if count > 1 else {}
    reports["0"] = os.environ["MASTER_ADDR"], own
    nodes, problems = [], []
    for number in map(str, range(count)):
        host, report = reports.get(number, ("", None))
        nodes.append((f"node {number} ({host})", host))
        if report is None:
            problems.append(f"nothing was heard of node {number} in {PATIENCE:.0f} s")
        elif report:
            problems.append(f"{nodes[-1][0]}: {report}")
    if not problems and WANTED["ranks"]:
        problem = measure(nodes)
        problems = [problem, *find_groups(nodes)] if problem else []
    say(f"refused: {'; '.join(problems)}" if problems else "passed")
    return int(bool(problems))


def efa_problem():
    """Return the problems of this node's EFA interfaces; empty if there are none."""
    try:
        asked, _ = run("fi_info -p efa -t FI_EP_RDM", 60)
    except FileNotFoundError:
        return "the image has no fi_info, so it has no libfabric for EFA"
    except subprocess.TimeoutExpired:
        return "fi_info hangs"
    providers = set(re.findall(r"^provider: *(.+)$", asked, re.MULTILINE))
    if providers - {"efa"}:
        return f"libfabric offers {', '.join(sorted(providers))} where only efa was asked for"
    # A device is listed once for each fabric it is in, such as efa and efa-direct, with the same domain.
    found = len(set(re.findall(r"^ *domain: *(.+)$", asked, re.MULTILINE))) if providers else 0
    if found != WANTED["efa"]:
        return f"libfabric sees {found} EFA interfaces of {WANTED['efa']:.0f}; training would go over TCP, or hang"
    return ""


def measure(nodes):  # noqa: PLR0911 - one line for each way to fail
    """Run nccom-test on some nodes, and return the problems; empty if there are none."""
    hosts = [host for _, host in nodes]
    command = (
        f"nccom-test -r {len(hosts) * int(WANTED['ranks'])} -N {len(hosts)} -d fp32 allr %s --non-interactive"
    )
    if len(hosts) > 1:
        command += " --hosts " + " ".join(hosts)
    try:
        said, failed = run(command % SIZES, PATIENCE, hosts[0])
        rows = sorted((int(size), float(time), float(bus)) for size, time, bus in ROW.findall(said))
        if failed or len(rows) != 3:
            return "nccom-test failed; its output is above"
        if run(command % CHECK, PATIENCE, hosts[0])[1]:
            return "nccom-test found wrong sums; its output is above"
    except FileNotFoundError:
        return "the image has no nccom-test (package aws-neuronx-tools)"
    except subprocess.TimeoutExpired:
        return f"nccom-test hung for {PATIENCE:.0f} s"
    latency, bandwidth = rows[0][1], rows[-1][2]
    found = f"{bandwidth} GiB/s at 1 GiB, {latency} us at 1 KiB"
    if bandwidth < WANTED.get("bandwidth", 0):
        return f"{found}; {WANTED['bandwidth']} GiB/s are the least"
    if latency > WANTED.get("latency", latency):
        return f"{found}; {WANTED['latency']} us are the most"
    return say(f"measured {found}") or ""


def find_groups(nodes):
    """Return the smallest groups of neighbours that fail by themselves."""
    size, failed = int(WANTED["group"]), []
    while size < len(nodes) and not failed:
        groups = [nodes[at : at + size] for at in range(0, len(nodes) - size + 1, size)]
        with ThreadPoolExecutor(len(groups)) as pool:
            for group, problem in zip(groups, pool.map(measure, groups)):
                if problem:
                    failed.append(", ".join(name for name, _ in group) + f": {problem}")
        size *= 2
    return failed


def run(command, seconds, root=""):
    """Run a program and its children; return its output, and whether it reported a failure."""
    with subprocess.Popen(
        command.split(),
        env={**os.environ, "NEURON_RT_ROOT_COMM_ID": f"{root}:{os.environ['MASTER_PORT']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as program:
        try:
            said = program.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, 9)
            raise
    if root:
        say(said)
    return said, program.returncode or WRONG.search(said)


def ask(question):
    """Ask the launcher of this node, which is connected to the others."""
    return json.loads(run(f"{os.environ['UC_ASK']} {question}", None)[0])


def say(what):
    """Write to the log of the job."""
    print(f"ultracluster: fabric gate: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
