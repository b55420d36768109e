"""FSx for Lustre data repository associations, which moto lacks. No data are copied."""

import copy
from collections.abc import Mapping
from typing import Any

from moto.s3.models import s3_backends

from ultracluster_local.instance.clock import CLOCK
from ultracluster_local.instance.environment import ACCOUNT
from ultracluster_local.services.fsx.state import bad_request, described, fsx_of
from ultracluster_local.services.fsx.validation import validate
from ultracluster_local.services.handlers import Handlers, Request, hex_id

__all__ = ["check_bucket", "handlers"]

handlers = Handlers(service="fsx")


@handlers("CreateDataRepositoryAssociation")
def create_data_repository_association(request: Request) -> Mapping[str, Any]:
    """Link a directory of a file system to an S3 prefix."""
    given = {key: value for key, value in request.parameters.items() if key != "ClientRequestToken"}
    fsx = fsx_of(request)
    file_system = fsx.one("file_system", given["FileSystemId"])
    validate(file_system, [*fsx.associations_of(given["FileSystemId"]), given])
    check_bucket(given["DataRepositoryPath"], region=request.region)
    association_id = hex_id("dra")
    association = copy.deepcopy(given) | {
        "AssociationId": association_id,
        "ResourceARN": request.arn("fsx", f"association/{given['FileSystemId']}/{association_id}"),
        "Lifecycle": "AVAILABLE",
        "CreationTime": CLOCK.now(),
        "Tags": given.get("Tags") or [],
    }
    association.setdefault("ImportedFileChunkSize", 1024)
    association.setdefault("BatchImportMetaDataOnCreate", False)
    fsx.associations[association_id] = association
    return {"Association": association}


def check_bucket(path: str, *, region: str) -> None:
    """Refuse a bucket in another Region. One that is not known here may belong to another account.

    https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html; the words are those of aws-samples/amazon-eks-machine-learning-with-terraform-and-kubeflow#91 (2024-03-20).
    """
    name = path.removeprefix("s3://").partition("/")[0]
    bucket = s3_backends[ACCOUNT]["aws"].buckets.get(name)
    if bucket is not None and bucket.region_name != region:
        need = "Ensure the IAM role or user you are using has s3:Get*, s3:List* and s3:PutObject permissions to the S3 bucket prefix."
        raise bad_request(f"Amazon FSx is unable to validate access to the S3 bucket. {need}")


@handlers("DescribeDataRepositoryAssociations")
def describe_data_repository_associations(request: Request) -> Mapping[str, Any]:
    """Describe all associations, the named ones, or those that match the filters."""
    fields = {"file-system-id": "FileSystemId", "data-repository-path": "DataRepositoryPath"}
    return described(request, "association", ids="AssociationIds", key="Associations", fields=fields)


@handlers("UpdateDataRepositoryAssociation")
def update_data_repository_association(request: Request) -> Mapping[str, Any]:
    """Update the chunk size or the policies."""
    fsx = fsx_of(request)
    association = fsx.one("association", request.parameters["AssociationId"])
    changed = copy.deepcopy(association)
    for name in ("ImportedFileChunkSize", "S3"):
        if name in request.parameters:
            changed[name] = request.parameters[name]
    others = [each for each in fsx.associations_of(association["FileSystemId"]) if each is not association]
    validate(fsx.one("file_system", association["FileSystemId"]), [*others, changed])
    association |= changed
    return {"Association": association}


@handlers("DeleteDataRepositoryAssociation")
def delete_data_repository_association(request: Request) -> Mapping[str, Any]:
    """Delete an association; data in S3 stay."""
    association_id = request.parameters["AssociationId"]
    fsx = fsx_of(request)
    fsx.one("association", association_id)
    del fsx.associations[association_id]
    return {
        "AssociationId": association_id,
        "Lifecycle": "DELETING",
        "DeleteDataInFileSystem": bool(request.parameters.get("DeleteDataInFileSystem")),
    }
