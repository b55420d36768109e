"""Environment variables of jobs and tasks."""

from ultracluster_checks import Source, check_templates


def task(instance_type: str, *devices: str, **variables: str) -> list[str]:
    """Return the codes of a task on one type of instance, with its devices and variables."""
    container = {
        "Image": "serve:1",
        "Environment": [{"Name": name, "Value": value} for name, value in variables.items()],
        "LinuxParameters": {"Devices": [{"HostPath": each} for each in devices], "SharedMemorySize": 1024},
    }
    data = {"InstanceType": instance_type, "MetadataOptions": {"HttpTokens": "required"}}
    owner = {"LaunchTemplate": {"LaunchTemplateId": {"Ref": "Nodes"}}}
    resources = {
        "Nodes": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
        "Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": owner},
        "Serve": {"Type": "AWS::ECS::TaskDefinition", "Properties": {"ContainerDefinitions": [container]}},
    }
    report = check_templates([Source(name="it", body={"Resources": resources})])
    return sorted(each.finding.code for each in report.problems if each.place.resource.logical_id == "Serve")


def test_gpus_that_a_job_over_several_nodes_hides_stay_idle() -> None:
    for shown, found in (("0,1,2,3,4,5,6,7", False), ("0", True)):
        container = {
            "InstanceType": "p5.48xlarge",
            "Environment": [{"Name": "CUDA_VISIBLE_DEVICES", "Value": shown}],
        }
        nodes = {"NumNodes": 2, "NodeRangeProperties": [{"TargetNodes": "0:", "Container": container}]}
        job = {"Type": "AWS::Batch::JobDefinition", "Properties": {"NodeProperties": nodes}}
        report = check_templates([Source(name="it", body={"Resources": {"Job": job}})])
        assert ("UC6416" in {each.code for each in report.findings}) is found


def test_a_cache_in_a_bucket_has_its_scheme() -> None:
    for address, found in (("s3://${Runs}/cache", False), ("${Runs}/cache", True)):
        container = {"Environment": [{"Name": "NEURON_COMPILE_CACHE_URL", "Value": {"Fn::Sub": address}}]}
        job = {"Type": "AWS::Batch::JobDefinition", "Properties": {"ContainerProperties": container}}
        body = {"Resources": {"Job": job, "Runs": {"Type": "AWS::S3::Bucket"}}}
        report = check_templates([Source(name="it", body=body)])
        assert ("UC6416" in {each.code for each in report.findings}) is found
