"""All runs of this machine: found, opened, used again, thrown away."""
