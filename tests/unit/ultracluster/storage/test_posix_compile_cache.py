"""A compile cache on the file system of the nodes."""

import aws_cdk as cdk
import pytest
from tests.unit.ultracluster.builders import IMAGE, network, nodes, queue

from ultracluster import Job, PosixCompileCache, SharedFileSystem, SingleNodeJob, TrainingQueue
from ultracluster.storage.shared_file_system import MountedFileSystem
from ultracluster_spec.findings import FindingsError

pytestmark = pytest.mark.slow


def file_system(stack: cdk.Stack) -> SharedFileSystem:
    return SharedFileSystem(stack, "FileSystem", network=network(stack), mount_path="/fsx")


def test_a_cache_on_the_file_system_has_a_folder_for_each_framework(stack: cdk.Stack) -> None:
    storage = file_system(stack)
    group = nodes(stack, network=stack.node.find_child("Network"), file_system=storage)
    training = TrainingQueue(stack, "Queue", nodes=group, max_nodes=1)
    cache = PosixCompileCache(storage, folder="team/cache")
    job = SingleNodeJob(
        stack, "Train", Job(image=IMAGE, command=("train.py",)), queue=training, compile_cache=cache
    )
    assert job.environment.items() >= cache.environment.items()
    assert cache.environment == {
        "JAX_COMPILATION_CACHE_DIR": "/fsx/team/cache/jax",
        "TORCH_NEURONX_NEFF_CACHE_DIR": "/fsx/team/cache/torchneuron",
        "NEURON_LIBTORCH_REMOTE_CACHE": "/fsx/team/cache/vllm",
    }
    # Those flags are of the wrapper around the compiler on XLA; TorchNeuron would hand them to the compiler.
    assert "NEURON_CC_FLAGS" not in job.environment
    assert "NEURON_COMPILE_CACHE_URL" not in job.environment


def test_rejects_a_cache_on_a_file_system_that_the_nodes_do_not_mount(stack: cdk.Stack) -> None:
    cache = PosixCompileCache(file_system(stack))
    training = queue(stack, network=stack.node.find_child("Network"))
    with pytest.raises(FindingsError, match=r"UC6016: \S+: compile_cache: the nodes do not mount"):
        SingleNodeJob(
            stack, "Train", Job(image=IMAGE, command=("train.py",)), queue=training, compile_cache=cache
        )


@pytest.mark.parametrize("folder", ["", "/compile-cache", "../other", "a/../../b"])
def test_rejects_a_folder_outside_the_file_system(stack: cdk.Stack, folder: str) -> None:
    with pytest.raises(FindingsError, match=r"UC6016: folder"):
        PosixCompileCache(file_system(stack), folder=folder)


@pytest.mark.parametrize(
    ("folder", "path"), [({}, "/fsx/compile-cache"), ({"folder": "llama"}, "/fsx/llama")]
)
def test_a_cache_is_a_folder_of_the_file_system(folder: dict[str, str], path: str) -> None:
    cache = PosixCompileCache(MountedFileSystem(mount_path="/fsx"), **folder)
    assert cache.path == path
    assert cache.file_system == MountedFileSystem(mount_path="/fsx")
    assert set(cache.environment.values()) == {f"{path}/jax", f"{path}/torchneuron", f"{path}/vllm"}
