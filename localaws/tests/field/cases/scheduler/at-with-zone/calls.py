base["ScheduleExpression"] = "at(2021-12-31T23:59:59Z)"
s.create_schedule(**base)
