"""Pictures and the HTML report; the same chart specifications serve web pages."""
