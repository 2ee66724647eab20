"""Who gets in, and what gets through: each line of the studio's promises about safety."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from klda.errors import SettingError
from klda.sources.live import source_of
from klda.web.live import MOST_WATCHERS
from klda.web.safety.addresses import source_from_form, token_variable
from klda.web.safety.limits import RateLimit
from klda.web.safety.sessions import COOKIE, LIFE, Sessions
from klda.web.settings import StudioSettings, parse_tokens, read_tokens
from klda.web.text import MOST_SHOWN, csv_text, pieces, visible
from tests.unit.report.hostile import ATTACKS
from tests.unit.web.conftest import BASE, TOKENS, Browser
from tests.unit.web.home import make_home
from tests.unit.web.test_pages import FORM

Browse = Callable[..., Browser]


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
    with pytest.raises(SettingError, match="no token in it"):
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


def test_sessions_end_and_cannot_be_made_up() -> None:
    time = [0.0]
    sessions = Sessions(clock=lambda: time[0])
    session = sessions.new("ann")
    assert Sessions().read(session.text) is None
    assert sessions.read(session.text.replace(".", ".0", 1)) is None
    for text in ("", ".", "...", "a.b.c.d"):
        assert sessions.read(text) is None
    time[0] = LIFE + 1.0
    assert sessions.read(session.text) is None


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


def test_guessing_tokens_is_slow(browse: Browse) -> None:
    browser = browse(tokens=TOKENS, logins_per_minute=3)
    guesses = [browser.get("/api/v1/monitors", headers={"Authorization": f"Bearer {n}"}) for n in range(5)]
    assert [guess.status_code for guess in guesses] == [401, 401, 401, 429, 429]
    right = {"Authorization": f"Bearer {TOKENS['ann']}"}
    assert browser.get("/api/v1/monitors", headers=right).status_code == 429  # or guessing would go on


def test_a_copy_of_a_cookie_is_worth_nothing_after_leaving(browse: Browse) -> None:
    browser = browse(tokens=TOKENS)
    form = re.search(r'name="csrf" value="(\w+)"', browser.get("/login").text)[1]
    browser.ask("POST", "/login", data={"csrf": form, "token": TOKENS["ann"]})
    copy = {"Cookie": f"{COOKIE}={browser.cookies[COOKIE]}"}
    assert browser.get("/api/v1/session", headers=copy).json()["identity"] == "ann"
    browser.post("/logout")
    browser.cookies.clear()
    assert browser.get("/api/v1/session", headers=copy).status_code == 401


def test_ended_sessions_are_forgotten_when_they_would_be_over() -> None:
    time = [0.0]
    sessions = Sessions(clock=lambda: time[0])
    sessions.end(sessions.new("ann"))
    time[0] = LIFE + 1.0
    sessions.end(sessions.new("bob"))
    assert len(sessions._ended) == 1


@pytest.mark.parametrize("path", ["/loginx", "/healthz/x", "/login/x"])
def test_nothing_beside_the_door_is_open(browse: Browse, path: str) -> None:
    assert browse(tokens=TOKENS).get(path).status_code == 303


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

    monkeypatch.setattr("klda.web.studio.list_monitors", fail)
    browser = browse(fails=True)
    for path in ("/", "/api/v1/monitors"):
        answer = browser.get(path)
        assert answer.status_code == 500
        assert "hunter2" not in answer.text
        assert "content-security-policy" in answer.headers


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "::1",
        "fe80::1",
        "fd00::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "::127.0.0.1",
        "fec0::1",
        "224.0.0.1",
    ],
)
def test_sources_in_the_own_network_are_refused_unless_allowed(address: str) -> None:
    def leads_there(_host: str, _port: int) -> list[str]:
        return ["93.184.215.14", address]

    for kind, where in (("jetstream", "wss://a.example"), ("mastodon", "https://a.example"), ("kafka", "a.example:1")):
        with pytest.raises(SettingError, match="own network"):
            source_from_form(kind, where, "posts", resolve=leads_there)
        allowed = source_from_form(kind, where, "posts", private=True, resolve=leads_there)
        assert (allowed["kind"], allowed["only_outside"]) == (kind, False)


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        ("mastodon", "http://a.example"),
        ("mastodon", "file:///etc/passwd"),
        ("mastodon", "https://ann:secret@a.example"),
        ("mastodon", "https://a.example/?x=1"),
        ("mastodon", "https://fa\u00df.example"),
        ("jetstream", "wss://\u24d0.example"),
        ("jetstream", "https://a.example"),
        ("jetstream", "wss://"),
        ("jetstream", "wss://a.example:99999"),
        ("x", "https://a.example"),
        ("kafka", "a.example"),
        ("kafka", ""),
        ("replay", "/etc/passwd"),
        ("folder", "/etc"),
    ],
)
def test_other_schemes_and_files_are_refused(kind: str, address: str) -> None:
    with pytest.raises(SettingError) as refusal:
        source_from_form(kind, address, "posts", resolve=lambda host, port: ["93.184.215.14"])
    assert "secret" not in str(refusal.value)


def test_a_token_is_only_sent_where_it_belongs() -> None:
    source = source_from_form("mastodon", "https://evil.example", resolve=lambda host, port: ["93.184.215.14"])
    assert source["token"] == "MASTODON_TOKEN_EVIL_EXAMPLE"
    assert token_variable("my-server.org") != token_variable("my.server.org")


@pytest.mark.parametrize(
    ("kind", "where"), [("jetstream", "wss://a.example"), ("mastodon", "https://a.example"), ("kafka", "a.example:1")]
)
def test_a_source_from_a_form_looks_again_when_it_connects(
    kind: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = source_from_form(kind, where, "posts", resolve=lambda host, port: ["93.184.215.14"])
    rebound = [(2, 1, 6, "", ("127.0.0.1", 1))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_args, **_options: rebound)

    async def listen() -> None:
        async with aclosing(source_of(table).bursts()) as bursts:
            async for _ in bursts:
                pass

    with pytest.raises(SettingError, match="own network"):
        asyncio.run(asyncio.wait_for(listen(), 20))


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_becomes_markup_link_or_trick(attack: str) -> None:
    for piece in pieces(attack, ["window"]):
        if piece.kind == "link":
            assert piece.text.startswith(("http://", "https://"))
    shown = visible(attack)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200e\u200f\x00-\x08\ud800-\udfff]", shown)


def test_of_an_endless_post_the_beginning_is_shown() -> None:
    shown = "".join(piece.text for piece in pieces("flu " * 1_000_000, ["flu"]))
    assert len(shown) == MOST_SHOWN + 1
    assert shown.endswith("…")


def test_direction_marks_are_shown() -> None:
    assert visible("photo\u202egnp.exe") == "photo⇄gnp.exe"


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1+1", "\u202e=1"])
def test_no_cell_is_a_formula(cell: str) -> None:
    [line] = csv_text(["a"], [[cell]]).splitlines()[1:]
    assert line.lstrip('"').startswith("'") or not line.lstrip('" ').startswith(("=", "+", "-", "@", "\t", "\r", "＝"))


def test_pages_of_a_hostile_monitor_hold_no_markup_of_strangers(browse: Browse, tmp_path: Path) -> None:
    make_home(tmp_path / "hostile", ATTACKS)
    browser = browse(home=tmp_path / "hostile")
    for path in ("/", "/monitors/health", "/monitors/health/history", "/jobs"):
        page = browser.get(path)
        assert page.status_code == 200
        for needle in ("<img", "<svg/", "<b>", "</title></head><body>", "<!--", "onerror=window.hacked=1>"):
            assert needle not in page.text.replace("\\u003c", "")
        assert "window.hacked = 1</script>" not in page.text
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", page.text)
        assert not re.search(r'href="(?!https?://|/|#)', page.text)
    table = browser.get("/api/v1/monitors/health/history.csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert "attachment" in table.headers["content-disposition"]


def test_the_cookie_says_nothing_about_its_key() -> None:
    sessions = Sessions()
    assert sessions.key.hex() not in sessions.new("ann").text
    assert COOKIE == "klda_session"
