"""A template as the CDK writes it, and what it is exported as."""

from typing import Any

from ultracluster_stacks.export import exported_template

IMAGE, ZONE, RESERVATION = "ami-0123456789abcdef0", "use2-az3", "cr-0123456789abcdef0"
VALUES = {IMAGE: "ImageId", ZONE: "ZoneId", RESERVATION: "ReservationId"}


def exported(resource: dict[str, Any], *, bucket: str | None = None, **parts: Any) -> dict[str, Any]:
    template = {"Resources": {"One": resource}, **parts}
    return exported_template(template, values=VALUES, region="us-east-2", bucket=bucket)
