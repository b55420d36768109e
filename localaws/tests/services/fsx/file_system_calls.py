"""Calls that make and link file systems, and how they are refused."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

NETWORK: dict[str, Any] = {}


def create(fsx: Any, lustre: dict[str, Any], **others: Any) -> dict[str, Any]:
    made: dict[str, Any] = fsx.create_file_system(
        FileSystemType="LUSTRE",
        **NETWORK,
        LustreConfiguration=lustre,
        **others,
    )["FileSystem"]
    return made


def refusal(call: Any, **parameters: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    assert caught.value.response["Error"]["Code"] == "BadRequest"
    return str(caught.value.response["Error"]["Message"])


def link(file_system: dict[str, Any], folder: str = "/data", bucket: str = "bucket") -> dict[str, Any]:
    return {
        "FileSystemId": file_system["FileSystemId"],
        "FileSystemPath": folder,
        "DataRepositoryPath": f"s3://{bucket}",
        "S3": {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}},
    }
