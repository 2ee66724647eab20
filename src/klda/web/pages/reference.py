"""The reference of the API, drawn from its own schema: no script from elsewhere is needed to read it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from klda.web.rendering import render

router = APIRouter()


@router.get("/api")
def reference(request: Request) -> Response:
    """All resources, by what they are about."""
    schema = request.app.openapi()
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            entry = {"method": method.upper(), "path": path, "about": operation.get("description", "")}
            entry["parameters"] = operation.get("parameters", [])
            groups.setdefault(operation.get("tags", ["other"])[0], []).append(entry)
    return render(request, "reference.html", groups=groups, about=schema["info"]["description"].split("\n\n"))
