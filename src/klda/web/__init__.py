"""The studio: pages in a browser on which a team sees what its keywords bring, and decides which to use next."""
