"""The workloads: stories, generated families, and readers of recorded transcripts."""
