base["ScheduleExpression"] = "rate(-10 minutes)"
s.create_schedule(**base)
