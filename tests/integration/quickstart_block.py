"""The Capacity Block of the quick start, as the local AWS is seeded with it."""

REGION = "us-east-2"
BLOCK = {
    "reservation_id": "cr-0123456789abcdef0",
    "region": REGION,
    "zone_id": "use2-az3",
    "instance_type": "trn2.48xlarge",
    "count": 4,
    "start": "2030-01-01T11:30:00+00:00",
    "end": "2030-01-15T11:30:00+00:00",
    "block": True,
}
