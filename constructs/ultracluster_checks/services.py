"""Services of Amazon ECS and node groups of Amazon EKS: tasks, load balancers, hosts and clusters that fit each other."""

import re
from collections.abc import Iterator
from typing import Final

from ultracluster_checks.jobs import TASK_DEFINITION
from ultracluster_checks.model.nodes import VPC, Nodes, nodes_of, vpc_of
from ultracluster_checks.model.permissions import may, role_behind
from ultracluster_checks.model.template import Property, Resource
from ultracluster_checks.problem import Wrong, rule
from ultracluster_checks.security_groups import group_rules
from ultracluster_rules.findings import quote

_CLUSTER: Final = re.compile(r"\bECS_CLUSTER=['\"]?([^\s'\"]+)")
_ADDON: Final = "AWS::EKS::Addon"
_EKS: Final = "AWS::EKS::Cluster"
_ALL: Final = 100  # percent of the tasks of a service


@rule("UC6463", "AWS::ECS::Service")
def services_fit_their_tasks(service: Resource) -> Iterator[Wrong]:
    """Find services whose network, launch type or number of tasks does not fit their task definition."""
    # Amazon ECS API reference, CreateService (2026-11): it is refused, or its tasks are never replaced or healthy.
    task, launch = service["TaskDefinition"].target, service["LaunchType"]
    network = service["NetworkConfiguration"]
    if task is None or task.type != TASK_DEFINITION:
        return
    mode, kinds = task["NetworkMode"].text, task["RequiresCompatibilities"].texts
    for balancer in service["LoadBalancers"].items:
        yield from _forwards_elsewhere(balancer, task)
    if launch.text == "FARGATE" and (mode not in {"awsvpc", None} or (kinds and launch.text not in kinds)):
        yield launch, f"got {launch.text}, and {task.logical_id} is not made for it", "EC2"
    if mode == "awsvpc" and network.missing:
        yield network, "none, and tasks have interfaces of their own", "subnets"
    deployment = service["DeploymentConfiguration"]
    least, most = deployment["MinimumHealthyPercent"], deployment["MaximumPercent"].number
    if least.number is not None and most is not None and least.number >= _ALL >= most:
        yield least, f"got {least.number} to {most} %, between which no task is replaced", "less, or more"


def _forwards_elsewhere(balancer: Property, task: Resource) -> Iterator[Wrong]:
    """Find load balancers for a container or port that the task does not have, or for targets of another kind."""
    name, port = balancer["ContainerName"], balancer["ContainerPort"]
    ports = {
        each["Name"].text: [mapped["ContainerPort"].number for mapped in each["PortMappings"].items]
        for each in task["ContainerDefinitions"].items
    }
    if name.text is not None and not {name.text, None} & ports.keys():
        got = f"got {quote(name.text)}, which is no container of {task.logical_id}"
        yield name, got, " or ".join(map(str, ports))
    mapped = ports.get(name.text, [None])
    if port.number is not None and not {port.number, None} & {*mapped}:
        yield port, f"got {port.number}, and the container has {mapped}", "a port of the container"
    group, mode = balancer["TargetGroupArn"].target, task["NetworkMode"].text
    if group is not None and mode and not group["TargetType"].unknown:
        kind, wanted = group["TargetType"].text or "instance", "ip" if mode == "awsvpc" else "instance"
        if kind != wanted:
            yield group["TargetType"], f"got {kind}, and tasks have the network mode {mode}", wanted


@rule("UC6463", nodes_of)
def hosts_join_the_cluster_of_their_services(nodes: Nodes) -> Iterator[Wrong]:
    """Find hosts whose user data names another cluster than the services have, and such user data under AWS Batch."""
    data, profile = nodes.data["UserData"], nodes.data["IamInstanceProfile"]
    joined = _CLUSTER.findall(data.pattern)
    if nodes.in_batch and joined:
        got = f"the nodes join {joined[0]}, and AWS Batch waits for them in a cluster of its own"
        yield data, got, "no ECS_CLUSTER"
    if nodes.in_batch or not joined:
        return
    role = role_behind(profile["Arn"]) or role_behind(profile["Name"])
    if role is not None and not may(role, "ecs:RegisterContainerInstance"):
        got = f"{role.logical_id} may not register with Amazon ECS: hosts start, are billed and never join"
        policy = "the managed policy AmazonEC2ContainerServiceforEC2Role"
        yield nodes.settings["LaunchTemplate"], got, policy
    services = nodes.owner.template.templates.of_type("AWS::ECS::Service")
    clusters = [each["Cluster"].target for each in services if each["LaunchType"].text != "FARGATE"]
    known = [each for each in clusters if each is not None]
    names = {name for each in known for name in (f"${{{each.logical_id}}}", each["ClusterName"].text)}
    named_here = "${" not in joined[0] or data.targets
    if known and known == clusters and names.isdisjoint(joined) and named_here:
        got = f"the nodes join {joined[0]}, and the services are in {known[0].logical_id}"
        yield data, got, "the cluster of the services"


@rule("UC6463", nodes_of)
def nodes_reach_their_control_plane(nodes: Nodes) -> Iterator[Wrong]:
    """Find node groups with security groups of their own that neither are nor admit those of their cluster."""
    # Amazon EKS user guide, launch templates (2026-11): Amazon EKS then adds no group, and nodes do not join.
    cluster = nodes.settings["ClusterName"].target
    lists = [each["Groups"] for each in nodes.interfaces if not each["Groups"].missing]
    lists = lists or [nodes.data["SecurityGroupIds"]]
    groups = [each.target for groups in lists for each in groups.items]
    if not nodes.in_eks or cluster is None or cluster.type != _EKS or not groups or None in groups:
        return
    cluster_groups = {each.target for each in cluster["ResourcesVpcConfig"]["SecurityGroupIds"].items} | {
        cluster
    }
    others = [group for group in groups if group and group is not cluster]
    peers = [each.peer for group in others for each in group_rules(group, "in")]
    admitted = any(peer.unknown or peer.target in cluster_groups for peer in peers)
    if cluster_groups.isdisjoint(groups) and not admitted:
        got = f"none of the groups is that of {cluster.logical_id}, or admits it: nodes start, are billed and never join"
        yield lists[0], got, f"ClusterSecurityGroupId of {cluster.logical_id}"


@rule("UC6463", "AWS::ECS::CapacityProvider")
def protected_hosts_can_be_managed(provider: Resource) -> Iterator[Wrong]:
    """Find protection of tasks over hosts without it, or without managed scaling: ECS API, AutoScalingGroupProvider (2026-11)."""
    settings = provider["AutoScalingGroupProvider"]
    group, managed = settings["AutoScalingGroupArn"].target, settings["ManagedTerminationProtection"]
    unprotected = group is not None and group["NewInstancesProtectedFromScaleIn"].off
    scaling = settings["ManagedScaling"]
    scaled = not scaling.missing and scaling["Status"].text != "DISABLED"
    if managed.text == "ENABLED" and (unprotected or not scaled):
        got = "got ENABLED, which needs managed scaling and a group that protects its hosts from scale-in"
        yield managed, got, "NewInstancesProtectedFromScaleIn: true, and ManagedScaling"


@rule("UC6467", _EKS)
def clusters_can_be_used(cluster: Resource) -> Iterator[Wrong]:
    """Find control planes without an endpoint or its name, and pods without credentials: EKS user guide, endpoint access, agent (2026-11)."""
    network, templates = cluster["ResourcesVpcConfig"], cluster.template.templates
    private, public = network["EndpointPrivateAccess"], network["EndpointPublicAccess"]
    if private.off and public.flag is False and not network.unknown:
        yield public, "no endpoint at all, which Amazon EKS refuses", "the private or the public one"
    for vpc in {vpc_of(each) for each in network["SubnetIds"].items} if private.flag else ():
        if vpc is not None and vpc.type == VPC and vpc["EnableDnsHostnames"].off:
            got = f"{vpc.logical_id} has no DNS hostnames, which the private endpoint needs"
            yield private, got, "EnableDnsHostnames: true"
    addons = [each for each in templates.of_type(_ADDON) if each["ClusterName"].target in {cluster, None}]
    roles = [each["RoleArn"] for each in cluster.referrers("AWS::EKS::PodIdentityAssociation", "ClusterName")]
    roles += [each["PodIdentityAssociations"] for each in addons]
    agent = {each["AddonName"].text for each in addons} & {"eks-pod-identity-agent", None}
    associated = [at for at in roles if not at.empty] if addons and not agent else []
    if associated and cluster["ComputeConfig"]["Enabled"].flag is not True:
        yield associated[0], "the cluster has no agent that gives pods their role", "eks-pod-identity-agent"


@rule("UC6467", nodes_of)
def node_groups_can_start(nodes: Nodes) -> Iterator[Wrong]:
    """Find node groups that Amazon EKS refuses, or whose pods get no addresses: user guide, launch templates, node role (2026-11)."""
    if not nodes.in_eks:
        return
    for name in ("IamInstanceProfile", "HibernationOptions", "SubnetId"):
        if not (at := nodes.data[name]).missing and not at.unknown:
            yield at, f"Amazon EKS refuses a launch template with {name}, which it sets itself", f"no {name}"
    role, templates = role_behind(nodes.settings["NodeRole"]), nodes.owner.template.templates
    cnis = [each for each in templates.of_type(_ADDON) if each["AddonName"].text in {"vpc-cni", None}]
    roles = [at for each in cnis for at in (each["ServiceAccountRoleArn"], each["PodIdentityAssociations"])]
    accounts = {each["ServiceAccount"].text for each in templates.of_type("AWS::EKS::PodIdentityAssociation")}
    elsewhere = any(not at.missing for at in roles) or {"aws-node", None} & accounts
    if role is not None and not elsewhere and not may(role, "ec2:AssignPrivateIpAddresses"):
        got = f"{role.logical_id} lacks AmazonEKS_CNI_Policy, and no add-on has it: pods get no addresses"
        yield nodes.settings["NodeRole"], got, "AmazonEKS_CNI_Policy"
