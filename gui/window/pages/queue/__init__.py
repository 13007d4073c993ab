"""The Queue page: plans in a row, one after the other on each GPU."""
