"""Who gets in, from where and how often, and what every answer carries: the safety promises of the studio."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from klda.errors import SettingError
from klda.web.counts import MOST_WATCHERS
from klda.web.guard import RateLimit
from klda.web.sessions import COOKIE
from klda.web.studio_settings import StudioSettings, parse_tokens, read_tokens
from tests.unit.web.conftest import BASE, FORM, TOKENS, Browse, Browser


def test_only_this_machine_gets_in_without_a_token(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "192.168.1.5", "studio.example.org"):
        with pytest.raises(SettingError, match="give a token first"):
            StudioSettings(tmp_path, host=host)
    with pytest.raises(SettingError, match="give a token first"):
        StudioSettings(tmp_path, hosts=("studio.example.org",))
    assert StudioSettings(tmp_path, host="0.0.0.0", tokens=TOKENS).needs_token


def test_short_tokens_are_refused_without_showing_them(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="shorter than 16") as refusal:
        StudioSettings(tmp_path, tokens={"ann": "hunter2"})
    assert "hunter2" not in str(refusal.value)
    with pytest.raises(SettingError, match="name:secret") as refusal:
        parse_tokens("hunter2hunter2hunter2")
    assert "hunter2" not in str(refusal.value)
    assert "0123456789" not in repr(StudioSettings(tmp_path, tokens=TOKENS))


def test_tokens_come_from_a_file_and_from_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("# the team\nann:0123456789abcdef\n\nbob: fedcba9876543210\n", encoding="utf-8")
    assert set(read_tokens(file, "eve:0000000000000000")) == {"ann", "bob", "eve"}
    file.write_text("# ann:0123456789abcdef\n", encoding="utf-8")
    with pytest.raises(SettingError, match="has no token"):
        read_tokens(file, None)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:8650", ""])
def test_a_name_that_was_made_to_lead_here_is_refused(browse: Browse, host: str) -> None:
    assert browse().get("/", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8650", "LOCALHOST:8650", "[::1]:8650"])
def test_the_own_names_are_let_in(browse: Browse, host: str) -> None:
    assert browse().get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:9999", "null"])
def test_other_sites_cannot_ask(browse: Browse, origin: str) -> None:
    browser = browse()
    token = browser.csrf()
    answer = browser.ask("POST", "/new", data=FORM | {"csrf": token}, headers={"Origin": origin})
    assert answer.status_code == 403
    assert browser.get("/api/v1/monitors", headers={"Origin": origin}).status_code == 403


def test_what_changes_something_needs_the_token_of_its_session(browse: Browse) -> None:
    browser = browse()
    assert browser.ask("POST", "/new", data=FORM).status_code == 403
    own = browser.csrf()
    for token in ("", "guess", browse().csrf()):
        assert browser.ask("POST", "/new", data=FORM | {"csrf": token}).status_code == 403
        assert browser.ask("POST", "/api/v1/monitors", json={}, headers={"X-CSRF-Token": token}).status_code == 403
    assert browser.ask("DELETE", "/api/v1/monitors").status_code == 403  # whatever the method is
    assert browser.ask("POST", "/new", data=FORM | {"csrf": own}, headers={"Origin": BASE}).status_code == 303


def test_with_tokens_nobody_sees_anything_before_coming_in(browse: Browse) -> None:
    browser = browse(tokens=TOKENS)
    for path in ("/", "/monitors/health", "/jobs", "/api"):
        answer = browser.get(path)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/login?next=/")
    for path in ("/api/v1/monitors", "/api/v1/openapi.json", "/metrics", "/api/v1/session"):
        assert browser.get(path).status_code == 401
    assert browser.get("/healthz").status_code == 200
    assert browser.get("/login").status_code == 200


def test_a_token_lets_in_by_header_and_by_login(browse: Browse) -> None:
    browser = browse(tokens=TOKENS)
    bearer = {"Authorization": f"Bearer {TOKENS['bob']}"}
    assert browser.get("/api/v1/session", headers=bearer).json()["identity"] == "bob"
    assert browser.get("/api/v1/monitors", headers={"Authorization": "Bearer guess"}).status_code == 401
    form = re.search(r'name="csrf" value="(\w+)"', browser.get("/login").text)[1]
    wrong = browser.ask("POST", "/login", data={"csrf": form, "token": "guess"})
    assert wrong.status_code == 401
    assert "guess" not in wrong.text
    answer = browser.ask("POST", "/login", data={"csrf": form, "token": TOKENS["ann"], "next": "/jobs"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/jobs")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKENS["ann"] not in cookie
    assert browser.get("/api/v1/session").json()["identity"] == "ann"
    assert browser.post("/logout").headers["location"] == "/login"
    assert browser.get("/").status_code == 303


def test_decisions_carry_the_identity_behind_the_token(browse: Browse) -> None:
    browser = browse(tokens=TOKENS)
    bearer = {"Authorization": f"Bearer {TOKENS['bob']}"}
    body = {"name": "flu", "subject": "Flu", "keywords": ["flu"]}
    assert browser.ask("POST", "/api/v1/monitors", json=body, headers=bearer).status_code == 201
    log = browser.get("/api/v1/monitors/flu/audit", headers=bearer).json()
    assert [(entry["who"], entry["action"]) for entry in log] == [("bob", "create")]


def test_the_cookie_is_secure_where_the_way_is(browse: Browse) -> None:
    assert "Secure" not in browse().get("/login").headers["set-cookie"]
    behind = browse(base="https://studio.example.org", hosts=("studio.example.org",), tokens=TOKENS)
    assert "; Secure" in behind.get("/login").headers["set-cookie"]


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_login_leads_to_no_other_site(browse: Browse, target: str) -> None:
    browser = browse(tokens=TOKENS)
    form = re.search(r'name="csrf" value="(\w+)"', browser.get("/login", params={"next": target}).text)[1]
    answer = browser.ask("POST", "/login", data={"csrf": form, "token": TOKENS["ann"], "next": target})
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_others_may_link_here_and_no_more(browse: Browse, site: str) -> None:
    def asked(mode: str, dest: str) -> int:
        headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
        return browse().get("/", headers=headers).status_code

    assert asked("navigate", "document") == 200
    for mode, dest in (("no-cors", "image"), ("no-cors", "script"), ("cors", "empty"), ("navigate", "iframe")):
        assert asked(mode, dest) == 403
    own = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
    assert browse().get("/", headers=own).status_code == 200


def test_a_copy_of_a_cookie_is_worth_nothing_after_leaving(browse: Browse) -> None:
    browser = browse(tokens=TOKENS)
    form = re.search(r'name="csrf" value="(\w+)"', browser.get("/login").text)[1]
    browser.ask("POST", "/login", data={"csrf": form, "token": TOKENS["ann"]})
    copy = {"Cookie": f"{COOKIE}={browser.cookies[COOKIE]}"}
    assert browser.get("/api/v1/session", headers=copy).json()["identity"] == "ann"
    browser.post("/logout")
    browser.cookies.clear()
    assert browser.get("/api/v1/session", headers=copy).status_code == 401


@pytest.mark.parametrize("path", ["/loginx", "/healthz/x", "/login/x"])
def test_nothing_beside_the_door_is_open(browse: Browse, path: str) -> None:
    assert browse(tokens=TOKENS).get(path).status_code == 303


def test_every_answer_has_the_headers(browse: Browse) -> None:
    browser = browse()
    answers = [browser.get(path) for path in ("/", "/nowhere", "/api/v1/monitors", "/static/x/studio.css")]
    answers.append(browser.get("/", headers={"Host": "evil.example"}))
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"


def test_a_fault_tells_nothing(browse: Browse, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("password=hunter2")

    monkeypatch.setattr("klda.monitor.overview.list_monitors", fail)
    browser = browse(fails=True)
    for path in ("/", "/api/v1/monitors"):
        answer = browser.get(path)
        assert answer.status_code == 500
        assert "hunter2" not in answer.text
        assert "content-security-policy" in answer.headers


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
