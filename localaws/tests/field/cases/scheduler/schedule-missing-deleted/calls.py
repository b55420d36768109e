s.delete_schedule(Name="nope")
