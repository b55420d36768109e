"""Building blocks shared by the constructs."""
