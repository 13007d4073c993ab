"""Images, captions and buckets."""
