"""The wizard: from what is to be trained to a plan that can be launched."""
