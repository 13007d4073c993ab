"""Plan and facts to findings."""
