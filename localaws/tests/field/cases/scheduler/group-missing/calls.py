s.create_schedule(**base, GroupName="absent")
