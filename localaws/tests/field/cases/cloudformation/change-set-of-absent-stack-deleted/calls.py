client("cloudformation").delete_change_set(StackName="nostack", ChangeSetName="DoesNotExist")
