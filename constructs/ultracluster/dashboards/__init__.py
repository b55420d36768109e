"""CloudWatch dashboards."""
