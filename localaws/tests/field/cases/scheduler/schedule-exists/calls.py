for _ in range(2):
    s.create_schedule(**base)
