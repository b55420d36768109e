for _ in range(2):
    client("ec2").create_placement_group(GroupName="nodes", Strategy="cluster")
