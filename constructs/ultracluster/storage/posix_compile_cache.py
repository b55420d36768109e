"""A compile cache on the shared file system, for frameworks that cannot use S3."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from aws_cdk import aws_iam as iam

from ultracluster.storage.shared_file_system import MountedFileSystem, SharedFileSystem
from ultracluster_catalog.neuron.neuron import (
    JAX_CACHE_VARIABLE,
    TORCHNEURON_CACHE_VARIABLE,
    VLLM_REMOTE_CACHE_VARIABLE,
)
from ultracluster_spec.buckets import check_cache_folder
from ultracluster_spec.findings import reject


class PosixCompileCache:
    """Folders on FSx for Lustre for TorchNeuron, vLLM Neuron and the cache of JAX, one each.

    TorchNeuron writes entries under a temporary name and renames them, so nodes can share the folder. vLLM compiles on
    each node and copies entries only in ``save_cache()``. torch-neuronx on XLA uses `CompileCache` instead, because its
    locks do not work on a shared file system.
    """

    file_system: SharedFileSystem | MountedFileSystem
    """File system of the cache."""
    path: str
    """Path on the nodes and in containers."""

    def __init__(
        self, file_system: SharedFileSystem | MountedFileSystem, *, folder: str = "compile-cache"
    ) -> None:
        """Describe the cache; this creates no resources.

        Args:
            file_system: File system that the nodes mount.
            folder: Folder relative to the mount path. Default: ``compile-cache``.

        Raises:
            FindingsError: If the folder is outside the mount path (UC6016).
        """
        reject(check_cache_folder(folder))
        self.file_system = file_system
        self.path = str(PurePosixPath(file_system.mount_path) / folder)

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of a job that uses the cache.

        (TorchNeuron environment variables, 2026-10-14; vLLM Neuron compilation cache, 2026-06-22; JAX's own cache,
        which Neuron supports from JAX 0.4.34 on: known issues of JAX NeuronX, read 2026-11.)
        """
        return {
            JAX_CACHE_VARIABLE: f"{self.path}/jax",
            TORCHNEURON_CACHE_VARIABLE: f"{self.path}/torchneuron",
            VLLM_REMOTE_CACHE_VARIABLE: f"{self.path}/vllm",
        }

    def grant_use(self, grantee: iam.IGrantable) -> iam.Grant:
        """Return a grant of nothing: every container that mounts the file system can use the cache.

        Args:
            grantee: Principal to grant permissions to, such as a job.
        """
        return iam.Grant.drop(grantee, "the file system is mounted by all jobs")
