"""Pictures of clusters, costs, offerings and rollouts, as accessible SVG."""
