e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
image = e.describe_images(
    Owners=["amazon"], Filters=[{"Name": "name", "Values": ["al2023-ami-2023*x86_64"]}]
)["Images"][0]["ImageId"]
base = {"ImageId": image, "InstanceType": "c5.large", "MinCount": 1, "MaxCount": 1}
zone = e.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["AvailabilityZone"]
made = e.create_capacity_reservation(
    InstanceType="c5.large", InstancePlatform="Linux/UNIX", AvailabilityZone=zone, InstanceCount=1
)
target = {"CapacityReservationId": made["CapacityReservation"]["CapacityReservationId"]}
both = {"CapacityReservationPreference": "open", "CapacityReservationTarget": target}
e.run_instances(**base, SubnetId=subnet, CapacityReservationSpecification=both)
