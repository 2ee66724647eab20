"""Every other way to propose keywords, and the paper's."""
