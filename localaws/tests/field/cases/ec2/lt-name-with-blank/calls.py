client("ec2").create_launch_template(
    LaunchTemplateName="my nodes", LaunchTemplateData={"InstanceType": "trn1.32xlarge"}
)
