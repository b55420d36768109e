client("cloudformation").delete_change_set(ChangeSetName="one")
