"""Names every part of moto that we change or lean on: when moto changes, this fails first, and says where to look."""

import inspect
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # imports moto's services

TOUCHED = {
    # ultracluster_local/server/moto_caching.py
    "moto.backends.list_of_moto_modules": None,  # kept, and not read for each request
    "moto.core.responses.method_names_from_class": ["clazz"],  # likewise
    "moto.core.serialize.AttributePicker.__call__": ["self", "context"],  # ours takes its place
    "moto.core.serialize.AttributePicker.get_possible_keys": ["self", "context"],
    "moto.core.serialize.ResponseSerializer._serialize_error": ["self", "resp", "error"],
    "moto.core.serialize.ResponseSerializer.get_value": ["self", "value", "key", "shape"],
    "moto.core.utils.get_value": ["obj", "key", "default"],
    "moto.ec2.models.tags.TagBackend.describe_tags": ["self", "filters"],
    "moto.ec2.utils.EC2_PREFIX_TO_RESOURCE": None,
    "moto.ec2.utils.filter_dict_attribute_mapping": None,
    "moto.ec2.utils.get_prefix": ["resource_id"],
    "moto.ec2.utils.instance_value_in_filter_values": ["instance_value", "filter_values"],
    "moto.ec2.utils.random.getrandbits": None,
    "moto.ec2.utils.random_resource_id": ["size"],
    "moto.moto_server.werkzeug_app.DomainDispatcherApplication.get_backend_for_host": ["self", "host"],
    # ultracluster_local/server/install.py
    "moto.batch.responses.BatchResponse._get_action": ["self"],
    "moto.budgets.models.Notification.__init__": ["self", "details", "subscribers"],
    "moto.budgets.models.BudgetsBackend.create_budget": ["self", "account_id", "budget", "notifications"],
    "moto.budgets.models.budgets_backends": None,
    "moto.budgets.responses.BudgetsResponse": None,
    "moto.cloudformation.responses.CloudFormationResponse.RESPONSE_KEY_PATH_TO_TRANSFORMER": None,
    "moto.cloudtrail.responses.CloudTrailResponse": None,
    "moto.cloudwatch.responses.CloudWatchResponse.put_metric_alarm": ["self"],
    "moto.core.errors.COMMON_ERROR_CODES": None,
    "moto.core.responses.BaseResponse._get_action": ["self"],
    "moto.core.responses.BaseResponse.call_action": ["self"],
    "moto.core.responses.BaseResponse.serialized": ["self", "action_result"],
    "moto.ec2.responses.EC2Response": None,
    "moto.ecr.responses.ECRResponse": None,
    "moto.fsx.responses.FSxResponse": None,
    # ultracluster_local/functions/lambda_runtime.py
    "moto.awslambda.models.LambdaBackend.delete_function": ["self", "function_name", "qualifier"],
    "moto.awslambda.models.LambdaFunction._invoke_lambda": None,  # ours takes its place
    # ultracluster_local/services/handlers.py
    "moto.core.exceptions.ServiceException": None,
    "moto.core.parse.XFormedDict.original_dict": ["self"],
    "moto.core.responses.ActionResult.__init__": ["self", "result"],
    "moto.core.responses.BaseResponse.parse_parameters": ["self", "request"],
    "moto.core.utils.camelcase_to_underscores": ["argument"],
    # ultracluster_local/events/
    "moto.events.models.EventPattern.get_pattern": ["self"],
    "moto.events.models.EventPattern.matches_event": ["self", "event"],
    "moto.events.models.Rule.arn": None,
    "moto.events.models.events_backends": None,
    "moto.scheduler.models.scheduler_backends": None,
    # ultracluster_local/services/ec2/instances.py
    "moto.ec2.models.instances.Instance.terminate": ["self"],
    "moto.ec2.responses.EC2Response.run_instances": ["self"],
    # ultracluster_local/server/install.py, AWS Batch
    "moto.batch.responses.BatchResponse.dispatch": None,
    "moto.batch.urls.url_paths": None,
    # ultracluster_local/services/public_images.py
    "moto.ec2.models.amis.Ami": None,
    "moto.ssm.models.Parameter": None,
    "moto.ssm.models.ParameterDict._check_loading_status": ["self", "key"],
    # ultracluster_local/services/s3/request_metrics.py
    "moto.cloudwatch.models.cloudwatch_backends": None,
    "moto.cloudwatch.models.CloudWatchBackend.put_metric_data": ["self", "namespace", "metric_data"],
    "moto.s3.models.s3_backends": None,
    "moto.s3.responses.S3Response._bucket_response": ["self", "request", "full_url"],
    "moto.s3.responses.S3Response.key_response": ["self", "request", "full_url", "headers"],
    "moto.s3.responses.S3Response.parse_bucket_name_from_url": ["self", "request", "url"],
    # ultracluster_local/services/embedded_metrics.py, alarms/watch.py
    "moto.cloudwatch.models.Alarm.update_state": ["self", "reason", "reason_data", "state_value"],
    "moto.cloudwatch.models.MetricAggregatedDatum": None,
    "moto.logs.models.LogsBackend.put_log_events": [
        "self",
        "log_group_name",
        "log_stream_name",
        "log_events",
    ],
    # ultracluster_local/services/iam_simulation.py, seed.py
    "moto.iam.models.SERVICE_NAME_CONVERSION": None,
    "moto.iam.models.Role.put_policy": ["self", "policy_name", "policy_json"],
    "moto.iam.models.iam_backends": None,
    "moto.iam.responses.IamResponse": None,
    # ultracluster_local/services/resource_groups.py
    "moto.resourcegroups.models.resourcegroups_backends": None,
    "moto.resourcegroups.responses.ResourceGroupsResponse.dispatch": None,
    "moto.resourcegroups.urls.url_paths": None,
    # ultracluster_local/services/service_quotas.py
    "moto.servicequotas.resources.default_quotas.vpc.VPC_DEFAULT_QUOTAS": None,
    "moto.servicequotas.responses.ServiceQuotasResponse": None,
    # ultracluster_local/services/s3/buckets.py
    "moto.iam.access_control.PermissionResult.NEUTRAL": None,
    "moto.s3.models.FakeBucket.get_permission": None,
    "moto.s3.responses.S3Response.get_bucket_replication": ["self"],
    # ultracluster_local/services/sqs.py
    "moto.sqs.models.Queue._set_attributes": ["self", "attributes", "now"],
    # ultracluster_local/services/ec2/capacity.py, ec2_tags.py
    "moto.ec2.models.EC2Backend.create_tags": ["self", "resource_ids", "tags"],
    "moto.ec2.models.EC2Backend.delete_tags": ["self", "resource_ids", "tags"],
    "moto.ec2.models.EC2Backend.describe_availability_zones": None,
    "moto.ec2.models.EC2Backend.do_resources_exist": ["self", "resource_ids"],
    "moto.ec2.models.ec2_backends": None,
    "moto.ec2.models.instance_types.INSTANCE_TYPES": None,
    "moto.ec2.models.validate_resource_ids": ["resource_ids"],
    # ultracluster_local/server/server.py
    "moto.core.DEFAULT_ACCOUNT_ID": None,
    "moto.moto_api._internal.models.MotoAPIBackend.reset": ["self"],
    "moto.moto_server.werkzeug_app.DomainDispatcherApplication.__init__": ["self", "create_app"],
    "moto.moto_server.werkzeug_app.MotoRequestHandler": None,
    "moto.moto_server.werkzeug_app.create_backend_app": ["service"],
}


def find(name: str) -> Any:
    """Import as much of a dotted name as is a module, and look the rest up."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: Any = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


def test_moto_is_the_version_that_we_change() -> None:
    assert version("moto") == "5.2.5", (
        "read docs/decisions/0012-moto-is-extended-and-pinned.md, and run all tests of this folder"
    )


@pytest.mark.parametrize("name", TOUCHED)
def test_moto_still_has(name: str) -> None:
    found = find(name)
    expected = TOUCHED[name]
    if expected is not None:
        assert list(inspect.signature(found).parameters) == expected


@pytest.mark.parametrize(
    "attribute", ["code_bytes", "environment_vars", "handler", "run_time", "timeout", "memory_size"]
)
def test_lambda_functions_of_moto_still_report(attribute: str) -> None:
    source = inspect.getsource(find("moto.awslambda.models"))
    assert f"self.{attribute}" in source


def test_every_module_of_services_is_imported() -> None:
    program = (
        "import pkgutil, sys; from ultracluster_local import services; from ultracluster_local.server.install import install\n"
        "install(); print([m.name for m in pkgutil.walk_packages(services.__path__, 'ultracluster_local.services.')"
        " if m.name not in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_moto_uses_our_account() -> None:
    assert find("moto.core.DEFAULT_ACCOUNT_ID") == "123456789012"


def test_unknown_actions_still_raise_what_we_turn_into_an_answer() -> None:
    source = inspect.getsource(find("moto.core.responses"))
    assert 'raise NotImplementedError(f"The {action} action has not been implemented")' in source
