"""What has not moved yet."""
