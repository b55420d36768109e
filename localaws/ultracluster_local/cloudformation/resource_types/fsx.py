"""FSx for Lustre file systems and data repository associations."""

from collections.abc import Mapping

from ultracluster_local.cloudformation.providers import ApiProvider, Provider, Tagging
from ultracluster_local.cloudformation.values import Properties

__all__ = ["PROVIDERS"]

_TAGS = Tagging(service="fsx", target="ResourceARN", attribute="ResourceARN")


class _FileSystem(ApiProvider):
    """A file system. The registry schema omits create-only settings: those that UpdateFileSystem does not take."""

    def create_only(self, resource_type: str, old: Properties, new: Properties) -> frozenset[tuple[str, ...]]:
        """Return the create-only properties, including settings that only CreateFileSystem accepts.

        The type's documentation (read 2026-11) lists replacement for two of them, CopyTagsToBackups and DeploymentType,
        and no interruption for the others, which no FSx operation supports.
        """
        lustre = (
            "CopyTagsToBackups",
            "DeploymentType",
            "DriveCacheType",
            "EfaEnabled",
            "ExportPath",
            "ImportPath",
            "ImportedFileChunkSize",
        )
        at_creation = {("StorageType",), *(("LustreConfiguration", name) for name in lustre)}
        return super().create_only(resource_type, old, new) | at_creation


PROVIDERS: Mapping[str, Provider] = {
    "AWS::FSx::FileSystem": _FileSystem(
        service="fsx",
        creates="CreateFileSystem",
        id_path="FileSystem.FileSystemId",
        deletes=("DeleteFileSystem", "FileSystemId"),
        reads=("DescribeFileSystems", "FileSystemIds[]", "FileSystems[0]"),
        attribute_paths={
            "Id": "FileSystemId",
            "DNSName": "DNSName",
            "LustreMountName": "LustreConfiguration.MountName",
            "ResourceARN": "ResourceARN",
        },
        updates=("UpdateFileSystem", "FileSystemId"),
        updatable=frozenset(
            {"StorageCapacity", "LustreConfiguration", "FileSystemTypeVersion", "StorageType"}
        ),
        partial=frozenset({"LustreConfiguration"}),
        tagging=_TAGS,
    ),
    "AWS::FSx::DataRepositoryAssociation": ApiProvider(
        service="fsx",
        creates="CreateDataRepositoryAssociation",
        id_path="Association.AssociationId",
        deletes=("DeleteDataRepositoryAssociation", "AssociationId"),
        reads=("DescribeDataRepositoryAssociations", "AssociationIds[]", "Associations[0]"),
        attribute_paths={"AssociationId": "AssociationId", "ResourceARN": "ResourceARN"},
        updates=("UpdateDataRepositoryAssociation", "AssociationId"),
        updatable=frozenset({"ImportedFileChunkSize", "S3"}),
        tagging=_TAGS,
    ),
}
