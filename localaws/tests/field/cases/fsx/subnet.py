import functools

e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24", AvailabilityZone="us-east-1a")["Subnet"][
    "SubnetId"
]
f = client("fsx")
lustre = functools.partial(
    f.create_file_system, FileSystemType="LUSTRE", StorageCapacity=1200, SubnetIds=[subnet]
)
persistent = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}
