client("batch").register_job_definition(jobDefinitionName="m", type="multinode")
