"""VPC, subnet, security group and interface layout of a cluster."""
