"""What sd-scripts is, takes and says."""
