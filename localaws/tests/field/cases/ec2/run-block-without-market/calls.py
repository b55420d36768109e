e = client("ec2")
v = e.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
s = e.create_subnet(VpcId=v, CidrBlock="10.1.0.0/24", AvailabilityZone=REGION + "a")["Subnet"]["SubnetId"]
g = e.create_security_group(GroupName="g", Description="g", VpcId=v)["GroupId"]
ami = e.describe_images(Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}])[
    "Images"
][0]["ImageId"]

off = e.describe_capacity_block_offerings(
    InstanceType="trn1.32xlarge", InstanceCount=1, CapacityDurationHours=24
)["CapacityBlockOfferings"][0]
cr = e.purchase_capacity_block(
    CapacityBlockOfferingId=off["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
)["CapacityReservation"]["CapacityReservationId"]
local.clock.advance(off["StartDate"] - local.clock.now() + __import__("datetime").timedelta(hours=1))
e.run_instances(
    ImageId=ami,
    InstanceType="trn1.32xlarge",
    MinCount=1,
    MaxCount=1,
    SubnetId=s,
    CapacityReservationSpecification={"CapacityReservationTarget": {"CapacityReservationId": cr}},
)
