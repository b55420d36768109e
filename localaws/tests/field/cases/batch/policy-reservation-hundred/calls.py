client("batch").create_scheduling_policy(name="p", fairsharePolicy={"computeReservation": 100})
