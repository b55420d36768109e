c.delete_stack(StackName="one", RetainResources=["A"])
