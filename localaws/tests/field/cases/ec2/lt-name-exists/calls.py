e = client("ec2")
for _ in range(2):
    e.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData={"InstanceType": "c5.large"})
