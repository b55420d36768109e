"""Placeholder until the next step of this session."""

from ultracluster_local.services.handlers import Handlers, hex_id
from ultracluster_local.state import remembered

handlers = Handlers(service="ec2")


@handlers("CreateCapacityReservation")
def create(request):
    i = hex_id("cr")
    r = {
        "CapacityReservationId": i,
        **request.parameters,
        "TotalInstanceCount": request.parameters["InstanceCount"],
        "AvailableInstanceCount": request.parameters["InstanceCount"],
        "State": "active",
        "OwnerId": request.account,
        "CapacityReservationArn": request.arn("ec2", "capacity-reservation/" + i),
    }
    remembered("cr", region=request.region, new=dict)[i] = r
    return {"CapacityReservation": r}


@handlers("DescribeCapacityReservations")
def describe(request):
    return {
        "CapacityReservations": [
            v
            for k, v in remembered("cr", region=request.region, new=dict).items()
            if k in request.parameters.get("CapacityReservationIds", [k])
        ]
    }


@handlers("CancelCapacityReservation")
def cancel(request):
    remembered("cr", region=request.region, new=dict).pop(request.parameters["CapacityReservationId"])
    return {"Return": True}
