client("ec2").create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData={})
