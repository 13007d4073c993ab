"""What ``--network_module`` names."""
