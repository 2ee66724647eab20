"""How often, how much and how many at once: whoever asks for too much waits or is refused."""

from __future__ import annotations

import pytest

from klda.web.counts import MOST_WATCHERS
from klda.web.guard import RateLimit
from tests.unit.web.conftest import FORM, TOKENS, Browse, Browser


def test_whoever_asks_too_often_waits(browse: Browse) -> None:
    browser = browse(reads_per_second=1.0)
    answers = [browser.get("/healthz") for _ in range(4)]
    assert [answer.status_code for answer in answers][-1] == 429
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_few_can_watch_at_once(reader: Browser) -> None:
    reader.app.state.live.watchers = MOST_WATCHERS
    job = reader.get("/api/v1/monitors/health/jobs").json()[0]["id"]
    for path in ("live", f"jobs/{job}/events"):
        assert reader.get(f"/api/v1/monitors/health/{path}").status_code == 503
    reader.app.state.live.watchers = 0
    assert reader.get(f"/api/v1/monitors/health/jobs/{'0' * 16}/events").status_code == 404


def test_guessing_tokens_is_slow(browse: Browse) -> None:
    browser = browse(tokens=TOKENS, logins_per_minute=3)
    guesses = [browser.get("/api/v1/monitors", headers={"Authorization": f"Bearer {n}"}) for n in range(5)]
    assert [guess.status_code for guess in guesses] == [401, 401, 401, 429, 429]
    right = {"Authorization": f"Bearer {TOKENS['ann']}"}
    assert browser.get("/api/v1/monitors", headers=right).status_code == 429  # or guessing would go on


def test_a_bucket_fills_again() -> None:
    time = [0.0]
    limit = RateLimit(rate=2.0, burst=1, clock=lambda: time[0])
    assert limit.wait("ann") == 0
    assert limit.wait("ann") == 0.5
    time[0] = 0.6
    assert limit.wait("ann") == 0


def test_large_bodies_are_not_read(browse: Browse) -> None:
    browser = browse(max_body=1000)
    assert browser.post("/new", FORM | {"subject": "x" * 2000}).status_code == 413

    async def endless():
        for _ in range(10):
            yield b"x" * 200

    token = browser.csrf()
    kind = {"Content-Type": "application/json", "X-CSRF-Token": token}
    assert browser.ask("POST", "/api/v1/monitors", content=endless(), headers=kind).status_code == 413


@pytest.mark.parametrize("path", ["/upload/" + "a" * 32, "/api/v1/uploads/" + "a" * 32 + "/monitor", "/uploadx"])
def test_only_files_may_be_large(browse: Browse, path: str) -> None:
    assert browse(max_body=1000).post(path, {"subject": "x" * 2000}).status_code == 413


def test_a_form_that_is_sent_as_a_file_is_not_held(browse: Browse) -> None:
    assert browse(max_body=1000).post("/api/v1/uploads", {"subject": "x" * 2000}).status_code == 413
