"""What stands between a request and the pages: hosts, origins, tokens, forgery, limits, headers, addresses."""
