"""Install the operations of AWS Batch into moto, and route those whose paths moto does not know."""

from moto.batch.responses import BatchResponse
from moto.batch.urls import url_paths
from moto.core.responses import BaseResponse

from ultracluster_local.services.batch import (
    compute_environments,
    consumable_resources,
    job_definitions,
    job_queues,
    jobs,
    listing,
    scheduling_policies,
    service_environments,
    tags,
)

__all__ = ["install"]


def install() -> None:
    """Replace moto's operations of AWS Batch with ours."""
    for module in (
        compute_environments,
        consumable_resources,
        job_definitions,
        job_queues,
        jobs,
        listing,
        scheduling_policies,
        service_environments,
        tags,
    ):
        module.handlers.install(BatchResponse)
        for operation in module.handlers.table:
            url_paths.setdefault(f"{{0}}/v1/{operation.lower()}$", BatchResponse.dispatch)
    # The ARNs of quota shares have more slashes than moto's paths of tags match.
    url_paths["{0}/v1/tags/(?P<arn>.+/quota-share/.+)$"] = BatchResponse.dispatch
    # moto derives Batch's actions from their paths; the base class names them as the API does.
    BatchResponse._get_action = BaseResponse._get_action  # noqa: SLF001 - see above
