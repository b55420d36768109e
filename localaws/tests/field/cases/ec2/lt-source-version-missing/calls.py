e = client("ec2")
e.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData={"InstanceType": "m5.large"})
e.create_launch_template_version(
    LaunchTemplateName="nodes", SourceVersion="9", LaunchTemplateData={"InstanceType": "m5.xlarge"}
)
