"""Children of an array job find each other, start together and end together."""
