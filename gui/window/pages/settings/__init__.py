"""The Settings page: trainers, what new plans begin with, the window's looks, and folders."""
