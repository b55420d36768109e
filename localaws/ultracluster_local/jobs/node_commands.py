"""Systems Manager's Run Command on nodes: the commands that write files, in the folder of the node.

A node is no machine of its own here, so nothing else is run: `reboot` would reboot the machine of the user.
"""

import re
import shlex
from collections.abc import Sequence

from ultracluster_local.instance.state import regions_with_state
from ultracluster_local.jobs.nodes import Node, nodes_in
from ultracluster_local.services.checks import Checks
from ultracluster_local.services.handlers import Request

__all__: list[str] = []

_check = Checks(service="ssm")
_SCRIPT = "AWS-RunShellScript"


@_check("SendCommand")
def write_files(request: Request) -> None:
    """Do what a shell script does to files of the nodes that it is sent to; moto then records the command."""
    if request.parameters.get("DocumentName") != _SCRIPT or request.region not in regions_with_state(
        "jobs:nodes"
    ):
        return
    lines = (request.parameters.get("Parameters") or {}).get("commands") or []
    for instance_id in request.parameters.get("InstanceIds") or []:
        node = nodes_in(request.region).get(instance_id)
        if node is not None:
            for line in "\n".join(lines).splitlines():
                _run(node, shlex.split(line))


def _run(node: Node, words: Sequence[str]) -> None:
    match words:
        case ["mkdir", "-p", path]:
            node.host_folder(path)
        case ["echo", text, target] if found := re.fullmatch(r">(/.+)", target):
            folder, _, name = found[1].rpartition("/")
            (node.host_folder(folder) / name).write_text(f"{text}\n", encoding="utf-8")
        case ["mv", source, target]:
            old, new = ((path.rpartition("/")[0], path.rpartition("/")[2]) for path in (source, target))
            (node.host_folder(old[0]) / old[1]).replace(node.host_folder(new[0]) / new[1])
        case _:
            return
