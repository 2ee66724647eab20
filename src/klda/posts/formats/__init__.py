"""What each platform calls the fields of a post: pure functions from a decoded record to an outcome."""
