base["ScheduleExpression"] = "cron()"
s.create_schedule(**base)
