"""Settings, and the only place that turns them into objects."""
