"""The language of posts, as the forms ask for it."""

from __future__ import annotations

import json
from collections.abc import Callable

from klda.web.api.uploads import UploadForm
from tests.unit.web.conftest import Browser


def test_the_language_of_a_file_is_told_and_can_be_said(browse: Callable[..., Browser]) -> None:
    browser = browse()
    said = "Das Krankenhaus hat heute wieder keine freien Betten, und die Ärzte sind müde."
    lines = [{"id": str(n), "time": f"2026-01-{1 + n % 28:02}T08:00:00Z", "text": f"{said} {n}"} for n in range(60)]
    content, headers = "\n".join(map(json.dumps, lines)).encode(), {"X-CSRF-Token": browser.csrf()}
    found = browser.ask("POST", "/api/v1/uploads", content=content, headers=headers).json()
    assert found["language"] == "de"
    assert "wieder" not in found["suggestions"]
    path = f"/upload/{found['id']}"
    assert '<option value="de" selected>German</option>' in browser.get(path).text
    form = {"name": "klinik", "subject": "Kliniken", "keywords": "krankenhaus", "window": "7d", "language": "De?"}
    wrong = browser.post(path, form)
    assert (wrong.status_code, 'id="error-language"' in wrong.text) == (422, True)
    assert UploadForm.model_validate(form | {"language": "de"}).values()["language"] == "de"
