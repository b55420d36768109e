client("cloudformation").get_template(StackName="nope")
