c.set_stack_policy(StackName="one", StackPolicyBody="{}", StackPolicyURL="https://b.s3.amazonaws.com/p")
