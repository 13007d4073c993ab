"""The page of a dataset: its images, captions, buckets, words and repairs."""
