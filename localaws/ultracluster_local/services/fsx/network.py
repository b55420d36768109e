"""Network of an FSx for Lustre file system: its subnet, and security groups that let LNET traffic through.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html; the words are those of
kubernetes-sigs/aws-fsx-csi-driver#32.
"""

import ipaddress
from typing import Any

from moto.ec2.models import ec2_backends

from ultracluster_local.services.handlers import Request, ServiceError

__all__ = ["check_network", "vpc_of"]

_LNET_PORT = 988


def _subnet(request: Request) -> Any:
    subnets = ec2_backends[request.account][request.region].describe_subnets()
    return next((one for one in subnets if one.id in request.parameters["SubnetIds"]), None)


def vpc_of(request: Request) -> str:
    """Return the ID of the VPC of a file system to be created; empty if its subnet does not exist."""
    return str(getattr(_subnet(request), "vpc_id", ""))


def check_network(request: Request) -> None:
    """Refuse a subnet or security group that does not exist, and groups that keep LNET traffic out.

    Raises:
        ServiceError: FSx would refuse the file system.
    """
    if len(request.parameters["SubnetIds"]) != 1:
        raise _refused("Exactly one subnet ID must be provided for all Lustre deployment types.")
    subnet = _subnet(request)
    if subnet is None:
        raise _refused(f"The subnet ID(s) '{', '.join(request.parameters['SubnetIds'])}' do not exist.")
    groups = ec2_backends[request.account][request.region].describe_security_groups()
    wanted = {*(request.parameters.get("SecurityGroupIds") or [])}
    chosen = [one for one in groups if one.id in wanted]
    absent = sorted(wanted - {one.id for one in chosen})
    if absent:
        raise _refused(f"The security group ID(s) '{', '.join(absent)}' do not exist.")
    # The default group of a VPC admits itself; moto does not list its rule.
    if not wanted or any(one.name == "default" for one in chosen):
        return
    if not any(_admits(rule, wanted, subnet.cidr_block) for group in chosen for rule in group.ingress_rules):
        raise _refused(
            "The file system cannot be created because the default security group in the subnet provided or the "
            "provided security groups do not permit Lustre LNET network traffic on port 988"
        )


def _refused(message: str) -> ServiceError:
    return ServiceError("InvalidNetworkSettings", message)


def _admits(rule: Any, groups: set[str], subnet_range: str) -> bool:
    """Return whether a rule admits port 988 from another file server, which has the same groups and subnet."""
    if str(rule.ip_protocol) != "-1":
        if str(rule.ip_protocol) not in {"tcp", "6"}:
            return False
        if not int(rule.from_port) <= _LNET_PORT <= int(rule.to_port):
            return False
    if rule.source_group:
        return rule.source_group.get("GroupId") in groups
    source = rule.ip_range.get("CidrIp")
    return source is not None and ipaddress.ip_network(source).overlaps(ipaddress.ip_network(subnet_range))
