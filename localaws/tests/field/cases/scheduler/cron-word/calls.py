base["ScheduleExpression"] = "cron(INVALID)"
s.create_schedule(**base)
