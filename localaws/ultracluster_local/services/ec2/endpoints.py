"""Constraints of VPC endpoints.

Messages without a source beside them are those of issues of hashicorp/terraform-provider-aws and
terraform-aws-modules/terraform-aws-vpc; the rules are those of
https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html and gateway-endpoints.html.
"""

import functools
from typing import Any

from moto.ec2.models.vpcs import VPCBackend

from ultracluster_local.services.checks import Checks
from ultracluster_local.services.ec2.networks import backend_of, endpoints, network_of, subnets
from ultracluster_local.services.handlers import Request, ServiceError
from ultracluster_local.services.iam.policy_grammar import document, statements
from ultracluster_local.services.replacing import instead_of

__all__: list[str] = []

_check = Checks(service="ec2")

_GATEWAYS = frozenset({"dynamodb", "s3"})
_BOTH = _GATEWAYS  # S3 and DynamoDB have interface endpoints as well
_PREFIX = "com.amazonaws."


@instead_of(VPCBackend, "create_vpc_endpoint")
def _with_defaults(original: Any, backend: Any, *arguments: Any, **settings: Any) -> Any:
    """Keep the default type, without which moto cannot delete an endpoint; a gateway has no private DNS."""
    endpoint = original(backend, *arguments, **settings)
    endpoint.vpc_endpoint_type = endpoint.vpc_endpoint_type or "Gateway"
    gateway = endpoint.vpc_endpoint_type == "Gateway"
    # cloud-custodian/cloud-custodian, tests/data/placebo: all endpoints of it since 2023 that have the member
    endpoint.dns_options = {"DnsRecordIpType": "service-defined" if gateway else "ipv4"}
    if gateway:
        endpoint.private_dns_enabled = False
    elif endpoint.vpc_endpoint_type == "Interface" and not endpoint.security_group_ids:
        own = backend.groups[endpoint.vpc_id].values()  # API_CreateVpcEndpoint, SecurityGroupIds
        endpoint.security_group_ids = [one.id for one in own if one.is_default]
    return endpoint


@_check("CreateVpcEndpoint")
def create_vpc_endpoint(request: Request) -> None:
    """Check type, network, zones and private DNS of an endpoint."""
    given = request.parameters
    kind = given.get("VpcEndpointType") or "Gateway"
    service = given.get("ServiceName") or ""
    backend_of(request.region).get_vpc(given["VpcId"])
    if service.startswith(f"{_PREFIX}{request.region}.") and service not in _services(request.region):
        raise ServiceError("InvalidServiceName", f"The Vpc Endpoint Service '{service}' does not exist")
    if kind in {"Interface", "Gateway"} and service.startswith(f"{_PREFIX}{request.region}."):
        _check_type(service.removeprefix(f"{_PREFIX}{request.region}."), kind)
    _check_policy(given.get("PolicyDocument"))
    if kind == "Gateway":
        _check_gateway(request)
    if kind == "Interface":
        if given.get("RouteTableIds"):  # ansible-collections/amazon.aws#576
            raise ServiceError(
                "InvalidParameter", "Route table IDs are only supported for Gateway type VPC Endpoint."
            )
        _check_subnets(request, given.get("SubnetIds") or [], taken=[])
        _check_groups(request, given["VpcId"], given.get("SecurityGroupIds") or [])
        if given.get("PrivateDnsEnabled"):
            _check_private_dns(request, given["VpcId"], service)


@functools.cache
def _services(region: str) -> frozenset[str]:
    """Names of AWS's endpoint services in a Region, as moto has recorded them."""
    found = backend_of(region).describe_vpc_endpoint_services([], [], None, None, region)
    return frozenset(found["serviceNames"])


def _check_type(service: str, kind: str) -> None:
    available = ["Gateway", "Interface"] if service in _BOTH else ["Interface"]
    if kind not in available:
        raise ServiceError(
            "InvalidParameter",
            f"Endpoint type ({kind}) does not match available service types ([{', '.join(available)}]).",
        )


def _check_policy(text: str | None) -> None:
    """API_CreateVpcEndpoint, PolicyDocument."""
    policy = document(text) if text else {}
    if policy is None or (text and not statements(policy)):
        raise ServiceError(
            "InvalidPolicyDocument", "Policy document is not valid: it must be in valid JSON format"
        )


def _check_gateway(request: Request) -> None:
    given = request.parameters
    for name in ("SubnetIds", "SecurityGroupIds"):
        if given.get(name):
            raise ServiceError("InvalidParameter", f"{name} cannot be specified for a Gateway endpoint")
    for other in endpoints(request.region):
        if other.service_name != given["ServiceName"] or (other.vpc_endpoint_type or "Gateway") != "Gateway":
            continue
        for table in given.get("RouteTableIds") or []:
            if table in (other.route_table_ids or []):
                raise ServiceError(
                    "RouteAlreadyExists",
                    f"route table {table} already has a route with destination-prefix-list-id "
                    f"{other.destination_prefix_list_id}",
                )


def _check_subnets(request: Request, wanted: list[str], *, taken: list[str]) -> None:
    """Refuse subnets of another VPC, and two of one zone (terraform-aws-modules/terraform-aws-vpc#451)."""
    known = subnets(request.region)
    zones = {known[one].availability_zone for one in taken if one in known}
    for subnet_id in wanted:
        if subnet_id not in known:
            raise ServiceError("InvalidSubnetId.NotFound", f"The subnet ID '{subnet_id}' does not exist")
        subnet = known[subnet_id]
        if request.parameters.get("VpcId", subnet.vpc_id) != subnet.vpc_id:
            raise ServiceError(
                "InvalidParameter", f"Subnet {subnet_id} does not belong to VPC {request.parameters['VpcId']}"
            )
        if subnet.availability_zone in zones:
            raise ServiceError(
                "DuplicateSubnetsInSameZone",
                f"Found another VPC endpoint subnet in the availability zone of {subnet_id}.",
            )
        zones.add(subnet.availability_zone)


def _check_groups(request: Request, vpc_id: str, groups: list[str]) -> None:
    for group_id in groups:
        network = network_of(request.region, group_id)
        if network is None:
            raise ServiceError("InvalidGroup.NotFound", f"The security group '{group_id}' does not exist")
        if network != vpc_id:
            raise ServiceError(
                "InvalidParameter",
                f"Security group {group_id} and VPC {vpc_id} belong to different networks.",
            )


def _check_private_dns(request: Request, vpc_id: str, service: str) -> None:
    vpc: Any = backend_of(request.region).get_vpc(vpc_id)
    if (
        "true" not in str(vpc.enable_dns_support).lower()
        or "true" not in str(vpc.enable_dns_hostnames).lower()
    ):
        raise ServiceError(
            "InvalidParameter",
            "Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC attributes set to true for "
            f"{vpc_id}",
        )
    for other in endpoints(request.region):
        if other.vpc_id == vpc_id and other.service_name == service and other.private_dns_enabled:
            # hashicorp/terraform-provider-aws#17269
            domain = f"{service.removeprefix(f'{_PREFIX}{request.region}.')}.{request.region}.amazonaws.com"
            raise ServiceError(
                "InvalidParameter",
                f"private-dns-enabled cannot be set because there is already a conflicting DNS domain for {domain} in the "
                f"VPC {vpc_id}",
            )


@_check("ModifyVpcEndpoint")
def modify_vpc_endpoint(request: Request) -> None:
    """Check the subnets and groups that a request adds to an endpoint, before moto adds them."""
    endpoint = backend_of(request.region).vpc_end_points.get(request.parameters["VpcEndpointId"])
    if endpoint is None:
        return
    kept = [
        one
        for one in endpoint.subnet_ids or []
        if one not in (request.parameters.get("RemoveSubnetIds") or [])
    ]
    _check_subnets(request, request.parameters.get("AddSubnetIds") or [], taken=kept)
    _check_groups(request, endpoint.vpc_id, request.parameters.get("AddSecurityGroupIds") or [])
