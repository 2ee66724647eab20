"""Resources for programs, one file each: a `router` with pydantic models, listed in `klda.web.application`."""
