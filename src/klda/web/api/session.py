"""Who is asking, and the token that requests which change something send along."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from klda.web.studio import Identity

router = APIRouter()


class SessionState(BaseModel):
    """The session that comes with the answer as a cookie."""

    identity: str = Field(description="The name behind the token; decisions are recorded under it.")
    csrf: str = Field(description="Send it as X-CSRF-Token with every request that changes something.")


@router.get("/session")
async def session(request: Request, identity: Identity) -> SessionState:
    """Who you are, and the token against forged requests; not needed with `Authorization: Bearer …`."""
    return SessionState(identity=identity, csrf=request.scope["state"]["csrf"])
