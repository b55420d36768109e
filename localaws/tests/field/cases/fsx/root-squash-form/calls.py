e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
group = e.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
client("fsx").create_file_system(
    FileSystemType="LUSTRE",
    StorageCapacity=1200,
    SubnetIds=[subnet],
    LustreConfiguration={
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 250,
        "RootSquashConfiguration": {"RootSquash": "65534"},
    },
)
