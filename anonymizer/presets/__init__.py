"""Named rules that a release can follow: their sources, what a draft gets of them, what departs."""
