import datetime as dt

begins = dt.datetime.now(tz=dt.UTC) - dt.timedelta(days=1)
s.create_schedule(**base, StartDate=begins)
