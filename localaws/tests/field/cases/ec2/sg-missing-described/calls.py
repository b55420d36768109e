client("ec2").describe_security_groups(GroupIds=["sg-0123456789abcdef0"])
