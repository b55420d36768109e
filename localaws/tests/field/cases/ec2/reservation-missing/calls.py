client("ec2").describe_capacity_reservations(CapacityReservationIds=["cr-0123456789abcdef0"])
