"""One attempt of a job: its containers on their nodes, from the first start to the end of the last.

A multi-node job has a container on each node; a job of `ecsProperties` has several on one node.
"""

import random
import re
import socket
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from moto.logs.models import logs_backends

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT, child_environment
from ultracluster_local.instance.running import running
from ultracluster_local.jobs import metadata
from ultracluster_local.jobs.container import Container, Ending, LogStream
from ultracluster_local.jobs.images import programs_of
from ultracluster_local.jobs.nodes import Node, is_alive, rewrite
from ultracluster_local.jobs.settings import JobSettings
from ultracluster_local.services.batch.containers import quantity, task_of
from ultracluster_local.services.batch.overrides import container_of_node
from ultracluster_local.services.batch.state import FINAL_STATES, Batch, milliseconds
from ultracluster_local.services.handlers import ServiceError
from ultracluster_local.services.s3_files import file_system_of

__all__ = ["Attempt"]

_DEFAULT_GROUP = "/aws/batch/job"
_EXITED = "Essential container in task exited"  # https://docs.aws.amazon.com/batch/latest/userguide/job_retries.html
_TIMED_OUT = "Job attempt duration exceeded timeout"  # reported in nextflow-io/nextflow#5104
_LIMIT = "The local AWS ended the job at its limit of {:.0f} s"
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


class Attempt:
    """An attempt of a job.

    Args:
        job: Job, whose status follows the attempt.
        batch: Resources of its Region.
        nodes: Nodes, one for each container.
        settings: How jobs run.
    """

    def __init__(
        self, job: dict[str, Any], *, batch: Batch, nodes: Sequence[Node], settings: JobSettings
    ) -> None:
        self.job = job
        self._task = task_of(job)
        self._tasks = self._task.get("containers") or []
        self.nodes = list(nodes) * (len(self._tasks) or 1)
        self._batch = batch
        self._settings = settings
        self._multi_node = "nodeProperties" in job
        essential = next((at for at, one in enumerate(self._tasks) if one.get("essential", True)), 0)
        self._main = job["nodeProperties"]["mainNode"] if self._multi_node else essential
        self._containers: dict[int, Container] = {}
        self._details: list[dict[str, Any]] = []
        self._endings: dict[int, Ending] = {}
        self._lost: dict[int, str] = {}
        self._stop_reason = ""
        self._port = str(_free_port())
        self._number = len(job.setdefault("attempts", [])) + 1
        self._began = time.monotonic()
        self._deadline = CLOCK.now() + timedelta(
            seconds=(job.get("timeout") or {}).get("attemptDurationSeconds") or 10**9
        )
        self.vcpus = [self._vcpus(index) for index in range(len(self.nodes))]
        for node, vcpus in zip(self.nodes, self.vcpus, strict=True):
            node.busy += vcpus

    def _properties(self, index: int) -> dict[str, Any]:
        if self._multi_node:
            return container_of_node(self.job["nodeProperties"], index)
        if self._tasks:
            roles = {"jobRoleArn": self._task.get("taskRoleArn"), "volumes": self._task.get("volumes")}
            return {**roles, **self._tasks[index]}
        properties: dict[str, Any] = self.job["container"]
        return properties

    def _vcpus(self, index: int) -> int:
        if self._multi_node:
            return self.nodes[index].vcpus  # a node of a multi-node job runs nothing else
        return int(float(quantity(self._properties(index), "VCPU") or 1))

    def start(self) -> None:
        """Start the containers, that of the main node first."""
        self.job["status"] = "STARTING"
        for key in ("containerInstanceArn", "taskArn"):  # of the attempt before
            self._task.pop(key, None)
        self.job.pop("statusReason", None)
        self._batch.started.add(self.job["jobId"])
        order = sorted(range(len(self.nodes)), key=lambda index: index != self._main)
        self._details = [self._detail(index) for index in range(len(self.nodes))]
        for index in order:
            try:
                self._containers[index] = self._container(index)
            except (ServiceError, ValueError, OSError) as error:
                words = f"{error.code}: {error.message}" if isinstance(error, ServiceError) else str(error)
                self._end(index, Ending(code=None, reason=words))
                continue
            self._details[index] |= {"status": "RUNNING", "startedAt": milliseconds()}
        if self._main in self._containers:
            self.job |= {"status": "RUNNING", "startedAt": milliseconds()}
            self.job.pop("stoppedAt", None)

    def _detail(self, index: int) -> dict[str, Any]:
        """Return what DescribeJobs shows of a container: in the job itself, or in the child job of a node."""
        node, task = self.nodes[index], uuid.uuid4().hex
        properties = self._properties(index)
        options = (properties.get("logConfiguration") or {}).get("options") or {}
        definition = self.job["jobDefinition"].rsplit("/", 1)[-1].partition(":")[0]
        cluster = node.container_instance.split("/")[-2]
        container = {
            **properties,
            "containerInstanceArn": node.container_instance,
            "taskArn": f"arn:aws:ecs:{node.region}:{ACCOUNT}:task/{cluster}/{task}",
            "logStreamName": f"{options.get('awslogs-stream-prefix', definition)}/{properties.get('name', 'default')}/{task}",
        }
        for key in ("exitCode", "reason"):
            container.pop(key, None)
        if not _has_stream(properties):
            del container["logStreamName"]
        if self._tasks:
            for key in ("containerInstanceArn", "taskArn"):
                container[key] = self._task.setdefault(key, container[key])
            for key in ("exitCode", "reason"):
                self._tasks[index].pop(key, None)
            self._tasks[index] |= {key: container[key] for key in ("logStreamName",) if key in container}
            return {"jobId": self.job["jobId"], "container": container}
        if not self._multi_node:
            self.job["container"] = container
            return self.job
        child = {
            **{key: value for key, value in self.job.items() if key not in {"nodeProperties", "attempts"}},
            "jobId": f"{self.job['jobId']}#{index}",
            "jobArn": f"{self.job['jobArn']}#{index}",
            "status": "STARTING",
            "container": container,
            "nodeDetails": {"nodeIndex": index, "isMainNode": index == self._main},
            "dependsOn": [],
        }
        self._batch.jobs[child["jobId"]] = child
        return child

    def inside(self, name: str) -> dict[str, Any] | None:
        """Return the folder and the variables of the container of a task, or of a node by its instance ID."""
        for index, container in self._containers.items():
            node, task = self.nodes[index], self._details[index]["container"]["taskArn"]
            if name in {task, node.instance_id}:
                folder = container.folder if name == task else node.folder
                return {"folder": str(folder), "environment": container.environment}
        return None

    def _container(self, index: int) -> Container:
        node, container = self.nodes[index], self._details[index]["container"]
        task = container["taskArn"].rsplit("/", 1)[-1]
        options = (container.get("logConfiguration") or {}).get("options") or {}
        group = options.get("awslogs-group", _DEFAULT_GROUP)
        groups = logs_backends[ACCOUNT][node.region]
        if group not in groups.groups and (
            group == _DEFAULT_GROUP or options.get("awslogs-create-group") == "true"
        ):
            groups.create_log_group(group, {})
        programs = programs_of(container["image"], self._settings.images)
        log = LogStream(
            region=options.get("awslogs-region", node.region),
            group=group,
            name=container.get("logStreamName", ""),
        )
        log.create()
        folders = _mounts(container, node)
        parameters = self.job.get("parameters") or {}
        command = [_substitute(word, parameters) for word in container.get("command") or []]
        needs = int(quantity(container, "MEMORY") or self._settings.memory_mib)
        return Container(
            [rewrite(word, folders) for word in command],
            environment={
                name: rewrite(value, folders)
                for name, value in self._environment(index, programs, container).items()
            },
            folder=running().directory / "jobs" / "containers" / task,
            log=log,
            memory_mib=min(needs, self._settings.memory_mib),
        )

    def _environment(self, index: int, programs: Path, container: Mapping[str, Any]) -> dict[str, str]:
        """Return the variables of a container: https://docs.aws.amazon.com/batch/latest/userguide/job_env_vars.html."""
        node = self.nodes[index]
        clients = running().clients
        by_batch = {
            # By the agent of Amazon ECS; AWS's SDKs name it in their user agents.
            "AWS_EXECUTION_ENV": "AWS_ECS_EC2",
            "AWS_BATCH_JOB_ID": self._details[index]["jobId"],
            "AWS_BATCH_JOB_ATTEMPT": str(self._number),
            "AWS_BATCH_CE_NAME": node.environment.rsplit("/", 1)[-1],
            "AWS_BATCH_JQ_NAME": self.job["jobQueue"].rsplit("/", 1)[-1],
        }
        if "index" in self.job.get("arrayProperties", {}):
            by_batch["AWS_BATCH_JOB_ARRAY_INDEX"] = str(self.job["arrayProperties"]["index"])
        if self._multi_node:
            by_batch |= {
                "AWS_BATCH_JOB_NODE_INDEX": str(index),
                "AWS_BATCH_JOB_NUM_NODES": str(len(self.nodes)),
                "AWS_BATCH_JOB_MAIN_NODE_INDEX": str(self._main),
            }
            if index != self._main:  # only the other nodes have it
                by_batch["AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS"] = "127.0.0.1"
        return {
            # Not the user's environment: it may hold secrets.
            **child_environment(endpoint=clients.endpoint, key=clients.key, region=node.region, base={}),
            "PATH": f"{programs}:{_SYSTEM_PATH}",
            "LANG": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            "OMP_NUM_THREADS": "1",  # the nodes share the processors of this machine
            # A real node has all ports to itself. By this variable, distributed programs find their main node.
            "MASTER_PORT": self._port,
            **{one["name"]: one.get("value", "") for one in container.get("environment") or []},
            **by_batch,
            **metadata.variables(node, container, own_interface=self._multi_node),
        }

    def poll(self) -> bool:
        """Follow the containers; return whether the attempt is over, so that its nodes are free."""
        for index, node in enumerate(self.nodes):
            if index in self._endings:
                continue
            container = self._containers[index]
            if index not in self._lost and not is_alive(node):
                self._lost[index] = f"Host EC2 (instance {node.instance_id}) terminated."
                container.kill()
            if ending := container.poll():
                self._end(index, ending)
        if not self._stop_reason:
            self._stop_reason = self._reason_to_stop()
        if self._stop_reason or self._main in self._endings or self._essential_ended():
            for index, container in self._containers.items():
                if index not in self._endings:
                    container.stop()
        if len(self._endings) < len(self.nodes):
            return False
        self._finish()
        return True

    @property
    def stops(self) -> bool:
        """Whether the containers have been told to end."""
        return bool(self._stop_reason)

    def _essential_ended(self) -> bool:
        """Return whether an essential container of several on one node has ended, which ends the others (API_TaskContainerProperties)."""
        return bool(self._tasks) and any(self._is_essential(index) for index in self._endings)

    def _is_essential(self, index: int) -> bool:
        return bool(self._tasks[index].get("essential", True))

    def _reason_to_stop(self) -> str:
        if self.job.get("isTerminated") or self.job["status"] in FINAL_STATES:
            return str(self.job.get("statusReason") or _EXITED)
        if CLOCK.now() >= self._deadline:
            return _TIMED_OUT
        if time.monotonic() - self._began > self._settings.seconds:
            return _LIMIT.format(self._settings.seconds)
        return ""

    def _end(self, index: int, ending: Ending) -> None:
        self._endings[index] = ending
        detail = self._details[index]
        container = detail["container"]
        if ending.code is not None and index not in self._lost:
            container["exitCode"] = ending.code
        if ending.reason:
            container["reason"] = ending.reason
        if self._tasks:
            self._tasks[index] |= {key: container[key] for key in ("exitCode", "reason") if key in container}
        if self._multi_node:
            detail |= {
                "status": "SUCCEEDED" if ending.code == 0 else "FAILED",
                "statusReason": self._lost.get(index, _EXITED),
                "stoppedAt": milliseconds(),
            }

    def kill(self) -> None:
        """Kill all containers, when the local AWS stops."""
        for index, container in self._containers.items():
            if index not in self._endings:
                container.kill()
        deadline = time.monotonic() + 10
        for index, container in self._containers.items():
            while index not in self._endings and time.monotonic() < deadline:
                if ending := container.poll():
                    self._endings[index] = ending
                time.sleep(0.01)

    def _finish(self) -> None:
        job, main = self.job, self._details[self._main]["container"]
        self._batch.started.discard(job["jobId"])
        for node, vcpus in zip(self.nodes, self.vcpus, strict=True):
            node.busy -= vcpus
        ended = self._endings[self._main]
        reason = self._lost.get(self._main, _EXITED)
        if ended.code is None or ended.reason.startswith("CannotStartContainerError"):
            reason = "Task failed to start"  # nextflow-io/nextflow#5657, grycap/scar#323
        shown = ("containerInstanceArn", "taskArn", "exitCode", "reason", "logStreamName")
        ending: dict[str, Any] = {"container": {key: main[key] for key in shown if key in main}}
        if self._tasks:
            of_task = ("name", "exitCode", "reason", "logStreamName")
            places = {key: main[key] for key in ("containerInstanceArn", "taskArn")}
            containers = [{key: one[key] for key in of_task if key in one} for one in self._tasks]
            ending = {"taskProperties": [{**places, "containers": containers}]}
        job["attempts"].append(
            {
                **ending,
                "startedAt": job.get("startedAt", milliseconds()),
                "stoppedAt": milliseconds(),
                "statusReason": self._stop_reason or reason,
            }
        )
        job["statusReason"] = self._stop_reason or reason
        if job["status"] in FINAL_STATES:
            return  # ended with the array that it belongs to
        if self._tasks:  # the first essential container that ended has ended the others
            ended = next(one for at, one in self._endings.items() if self._is_essential(at))
        succeeded = ended.code == 0 and not self._stop_reason and self._main not in self._lost
        if succeeded or self._stop_reason or not self._is_retried(reason, ended):
            job |= {"status": "SUCCEEDED" if succeeded else "FAILED", "stoppedAt": milliseconds()}
        else:
            job["status"] = "RUNNABLE"

    def _is_retried(self, status_reason: str, ended: Ending) -> bool:
        """Decide as API_RetryStrategy and API_EvaluateOnExit do; an attempt that no condition matches is retried."""
        strategy = self.job.get("retryStrategy") or {}
        if self._number >= strategy.get("attempts", 1):
            return False
        facts = {
            "onStatusReason": status_reason,
            "onReason": ended.reason,
            "onExitCode": "" if ended.code is None else str(ended.code),
        }
        for condition in strategy.get("evaluateOnExit") or []:
            patterns = {key: condition[key] for key in facts if condition.get(key) is not None}
            if all(_matches(pattern, facts[key]) for key, pattern in patterns.items()):
                return bool(condition["action"].upper() == "RETRY")
        return True


def _matches(pattern: str, text: str) -> bool:
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern


def _mounts(container: Mapping[str, Any], node: Node) -> dict[str, Path]:
    """Return the folders of this machine that stand for the mount points of a container."""
    sources = {one["name"]: _folder(one, node) for one in container.get("volumes") or []}
    return {one["containerPath"]: sources[one["sourceVolume"]] for one in container.get("mountPoints") or []}


def _folder(volume: Mapping[str, Any], node: Node) -> Path:
    """Return the folder of this machine that stands for a volume; all nodes share that of S3 Files."""
    files = volume.get("s3filesVolumeConfiguration")
    if files is None:
        source = (volume.get("host") or {}).get("sourcePath")
        return node.host_folder(source or f"/var/lib/docker/volumes/{volume['name']}")
    system = file_system_of(files["fileSystemArn"])
    if system is None:
        # The reason is that of ECS for any volume; no page has its words for S3 Files.
        raise ServiceError("CannotCreateVolumeError", f"{files['fileSystemArn']} does not exist")
    point = files.get("accessPointArn", "/").rpartition("/")[2]
    folder: Path = node.folder.parent / system["fileSystemId"] / point
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _has_stream(container: Mapping[str, Any]) -> bool:
    return bool((container.get("logConfiguration") or {}).get("logDriver", "awslogs") == "awslogs")


def _substitute(word: str, parameters: Mapping[str, str]) -> str:
    found = re.fullmatch(r"Ref::([A-Za-z0-9_-]+)", word)
    return parameters.get(found[1], word) if found else word


def _free_port() -> int:
    """Return a port whose followers are free too, below those that Linux hands out itself."""
    while True:
        port = random.randrange(20_000, 32_000, 8)  # noqa: S311 - no secret
        with ExitStack() as ports, suppress(OSError):
            for following in range(8):
                ports.enter_context(socket.socket()).bind(("127.0.0.1", port + following))
            return port
