client("cloudformation").describe_stack_events(StackName="does-not-exist")
