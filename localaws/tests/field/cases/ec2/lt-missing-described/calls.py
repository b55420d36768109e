client("ec2").describe_launch_template_versions(LaunchTemplateName="none")
