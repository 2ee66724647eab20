"""The studio: a page in the browser on which a team sees what its keywords bring and decides what comes next."""
