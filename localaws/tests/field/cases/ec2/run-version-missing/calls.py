e = client("ec2")
vpc = e.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
subnet = e.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
t = e.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData={"InstanceType": "c5.large"})
named = {"LaunchTemplateId": t["LaunchTemplate"]["LaunchTemplateId"], "Version": "9"}
e.run_instances(LaunchTemplate=named, MinCount=1, MaxCount=1, SubnetId=subnet)
