"""What the constructs make of capacity."""
