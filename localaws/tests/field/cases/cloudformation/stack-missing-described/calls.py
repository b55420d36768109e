client("cloudformation").describe_stacks(StackName="none")
