c.cancel_update_stack(StackName="one")
