"""Resources for programs, with pydantic models. Their routers are listed in `klda.web.application`."""
