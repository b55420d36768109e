"""The container of a job: a whole node with all its Neuron and EFA devices."""

from collections.abc import Mapping, Sequence

from aws_cdk import Stack
from aws_cdk import aws_batch as batch

from ultracluster.scheduling.i_training_queue import ITrainingQueue

# From AWS's multi-node template for p6 on AWS Batch (awslabs/awsome-distributed-ai, 2026-07-23).
_SHARED_MEMORY_MIB = 49152
_STACK_BYTES = 67108864
# Same limit as on the node (node-boot.sh).
_OPEN_FILES = 1048576

_FILE_SYSTEM_VOLUME = "file-system"
_SCRATCH_VOLUME = "scratch"

# Folder in which a node is notified of the end of its Capacity Block; the launcher watches it (`ultracluster docs capacity-lifecycle`).
_ORDERS_VOLUME = "orders"
_ORDERS_PATH = "/run/ultracluster"


def job_container(
    *,
    queue: ITrainingQueue,
    image: str,
    command: Sequence[str],
    environment: Mapping[str, str],
    secrets: Mapping[str, str],
    role_arn: str,
    execution_role_arn: str,
    log_stream_prefix: str,
    instance_type: str | None,
) -> batch.CfnJobDefinition.ContainerPropertiesProperty:
    """Return the container properties of a job that occupies a whole node.

    Devices are listed one by one: mapping the whole of ``/dev/infiniband`` silently disables EFA on hosts that have other
    devices in it (aws-samples/aws-do-eks#63). The container is not privileged. Only multi-node jobs need `instance_type`.
    """
    machine = queue.nodes.instance_type
    file_system = queue.nodes.file_system
    volumes, mount_points = [], []
    if file_system is not None:
        volumes.append(
            batch.CfnJobDefinition.VolumesProperty(
                name=_FILE_SYSTEM_VOLUME,
                host=batch.CfnJobDefinition.VolumesHostProperty(source_path=file_system.mount_path),
            )
        )
        mount_points.append(
            batch.CfnJobDefinition.MountPointsProperty(
                source_volume=_FILE_SYSTEM_VOLUME, container_path=file_system.mount_path, read_only=False
            )
        )
    volumes.append(
        batch.CfnJobDefinition.VolumesProperty(
            name=_ORDERS_VOLUME, host=batch.CfnJobDefinition.VolumesHostProperty(source_path=_ORDERS_PATH)
        )
    )
    mount_points.append(
        batch.CfnJobDefinition.MountPointsProperty(
            source_volume=_ORDERS_VOLUME, container_path=_ORDERS_PATH, read_only=True
        )
    )
    if (scratch_path := queue.nodes.scratch_path) is not None:
        volumes.append(
            batch.CfnJobDefinition.VolumesProperty(
                name=_SCRATCH_VOLUME,
                host=batch.CfnJobDefinition.VolumesHostProperty(source_path=scratch_path),
            )
        )
        mount_points.append(
            batch.CfnJobDefinition.MountPointsProperty(
                source_volume=_SCRATCH_VOLUME, container_path=scratch_path, read_only=False
            )
        )
    # AWS Batch assigns GPUs; it has no resource requirement for Neuron devices, which are therefore listed below.
    gpus = [batch.CfnJobDefinition.ResourceRequirementProperty(type="GPU", value=str(machine.gpus))]
    return batch.CfnJobDefinition.ContainerPropertiesProperty(
        image=image,
        instance_type=instance_type,
        command=list(command),
        environment=[
            batch.CfnJobDefinition.EnvironmentProperty(name=name, value=value)
            for name, value in sorted(environment.items())
        ],
        secrets=[
            batch.CfnJobDefinition.SecretProperty(name=name, value_from=arn)
            for name, arn in sorted(secrets.items())
        ]
        or None,
        job_role_arn=role_arn,
        execution_role_arn=execution_role_arn,
        resource_requirements=[
            batch.CfnJobDefinition.ResourceRequirementProperty(type="VCPU", value=str(machine.vcpus)),
            batch.CfnJobDefinition.ResourceRequirementProperty(
                type="MEMORY", value=str(machine.container_memory_mib)
            ),
            *(gpus if machine.gpus else []),
        ],
        linux_parameters=batch.CfnJobDefinition.LinuxParametersProperty(
            devices=[
                batch.CfnJobDefinition.DeviceProperty(
                    host_path=path, container_path=path, permissions=["READ", "WRITE", "MKNOD"]
                )
                for path in (*machine.neuron_devices, *queue.nodes.efa_devices)
            ],
            shared_memory_size=min(_SHARED_MEMORY_MIB, machine.container_memory_mib // 4),
            init_process_enabled=True,
        ),
        ulimits=[_ulimit("memlock", -1), _ulimit("stack", _STACK_BYTES), _ulimit("nofile", _OPEN_FILES)],
        volumes=volumes,
        mount_points=mount_points,
        log_configuration=batch.CfnJobDefinition.LogConfigurationProperty(
            log_driver="awslogs",
            options={
                "awslogs-group": queue.log_group_name,
                "awslogs-region": Stack.of(queue).region,
                "awslogs-stream-prefix": log_stream_prefix,
            },
        ),
    )


def _ulimit(name: str, limit: int) -> batch.CfnJobDefinition.UlimitProperty:
    return batch.CfnJobDefinition.UlimitProperty(name=name, soft_limit=limit, hard_limit=limit)
