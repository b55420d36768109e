"""FSx for Lustre and its links to S3."""

from collections.abc import Mapping

from ultracluster_local.cloudformation.providers import ApiProvider, Provider, Tagging
from ultracluster_local.cloudformation.values import Properties

__all__ = ["PROVIDERS"]

_TAGS = Tagging(service="fsx", target="ResourceARN", attribute="ResourceARN")


class _FileSystem(ApiProvider):
    """A file system. The registry's schema omits settings that FSx cannot change: those that UpdateFileSystem lacks."""

    def create_only(self, resource_type: str, old: Properties, new: Properties) -> frozenset[tuple[str, ...]]:
        """Add what is given to CreateFileSystem only.

        The type's documentation (read 2026-11) says replacement of two of them, CopyTagsToBackups and DeploymentType,
        and no interruption of the others, which no call of FSx could do.
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
