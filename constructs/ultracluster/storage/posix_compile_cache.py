"""A compile cache on the shared file system, for what cannot read one on S3."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from aws_cdk import aws_iam as iam

from ultracluster.storage.shared_file_system import SharedFileSystem
from ultracluster_catalog.neuron.neuron import (
    JAX_CACHE_VARIABLE,
    TORCHNEURON_CACHE_VARIABLE,
    VLLM_REMOTE_CACHE_VARIABLE,
)
from ultracluster_rules.buckets import check_cache_folder
from ultracluster_rules.findings import FindingsError

__all__ = ["PosixCompileCache"]


class PosixCompileCache:
    """Folders on FSx for Lustre for TorchNeuron, vLLM Neuron and JAX's own cache, each under a name of its own.

    TorchNeuron writes an entry under another name and renames it, so nodes may share the folder. vLLM compiles on
    each node and copies into it only when ``save_cache()`` is called. torch-neuronx on XLA is not pointed here: its
    locks and a shared file system do not go together; it has `CompileCache`.
    """

    def __init__(self, file_system: SharedFileSystem, *, folder: str = "compile-cache") -> None:
        """Describe the cache. No resource comes from it.

        Args:
            file_system: File system that the nodes mount.
            folder: Folder below its mount path. Default: ``compile-cache``.

        Raises:
            FindingsError: If the folder is not below the mount path (UC6016).
        """
        if findings := check_cache_folder(folder):
            raise FindingsError(findings)
        self._file_system = file_system
        self._path = str(PurePosixPath(file_system.mount_path) / folder)

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables of a job that uses the cache.

        (TorchNeuron environment variables, 2026-10-14; vLLM Neuron compilation cache, 2026-06-22; JAX's own cache,
        which Neuron supports from JAX 0.4.34 on: known issues of JAX NeuronX, read 2026-11.)
        """
        return {
            JAX_CACHE_VARIABLE: f"{self._path}/jax",
            TORCHNEURON_CACHE_VARIABLE: f"{self._path}/torchneuron",
            VLLM_REMOTE_CACHE_VARIABLE: f"{self._path}/vllm",
        }

    @property
    def file_system(self) -> SharedFileSystem:
        """File system that holds it."""
        return self._file_system

    @property
    def path(self) -> str:
        """Its path on the nodes and in the containers."""
        return self._path

    def grant_use(self, grantee: iam.IGrantable) -> None:
        """Grant nothing: whoever mounts the file system may use it.

        Args:
            grantee: Principal to grant permissions to, such as a job.
        """
