"""VPC, subnet, security group and interface layout of a cluster."""

__all__: list[str] = []
