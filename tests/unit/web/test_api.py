from __future__ import annotations

from collections.abc import Callable

import pytest

from klda.web.api.answers import TopicsAnswer, YieldAnswer
from tests.unit.web.conftest import Browser

READ = [
    "/monitors",
    "/monitors/health",
    "/monitors/health/volume?by=hour",
    "/monitors/health/keywords",
    "/monitors/health/topics",
    "/monitors/health/gaps",
    "/monitors/health/history",
    "/monitors/health/audit",
    "/monitors/health/jobs",
    "/jobs",
    "/session",
]


@pytest.mark.parametrize("path", READ)
def test_every_resource_answers_and_is_documented(reader: Browser, path: str) -> None:
    assert reader.get(f"/api/v1{path}").status_code == 200
    documented = reader.get("/api/v1/openapi.json").json()["paths"]
    assert f"/api/v1{path.partition('?')[0].replace('health', '{name}')}" in documented


def test_errors_are_documented_problems(reader: Browser) -> None:
    answer = reader.get("/api/v1/monitors/nothing")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json() == {"status": 404, "title": "Not Found", "detail": "there is no monitor 'nothing'"}
    schema = reader.get("/api/v1/openapi.json").json()
    answers = schema["paths"]["/api/v1/monitors/{name}"]["get"]["responses"]
    assert answers["404"]["content"]["application/problem+json"]["schema"]["$ref"].endswith("/Problem")
    assert "HTTPValidationError" not in schema["components"]["schemas"]


def test_what_is_wrong_is_said_field_by_field(browse: Callable[..., Browser]) -> None:
    body = {"name": "Not A Name", "subject": "", "keywords": []}
    problem = browse().post("/api/v1/monitors", json=body).json()
    assert problem["status"] == 422
    assert set(problem["fields"]) == {"name", "subject", "keywords"}


def test_a_monitor_can_be_made_and_looked_at(browse: Callable[..., Browser]) -> None:
    browser = browse()
    body = {"name": "flu", "subject": "Flu", "keywords": ["flu"], "max_posts": 500, "window": "1d"}
    answer = browser.post("/api/v1/monitors", json=body)
    assert (answer.status_code, answer.headers["location"]) == (201, "/api/v1/monitors/flu")
    assert browser.get("/api/v1/monitors/flu").json()["keywords"] == ["flu"]
    assert browser.post("/api/v1/monitors", json=body).status_code == 422
    assert browser.get("/api/v1/monitors/flu/topics").status_code == 404


def test_yields_say_what_only_a_keyword_brings(reader: Browser) -> None:
    found = [YieldAnswer.model_validate(one) for one in reader.get("/api/v1/monitors/health/keywords").json()]
    assert [one.keyword for one in found] == ["hospital", "doctor", "vaccine"]
    for one in found:
        assert 0 < one.alone < one.posts
        assert one.overlap == pytest.approx(1 - one.alone / one.posts)
        assert one.expected is not None


def test_topics_have_a_share_of_every_window(reader: Browser) -> None:
    found = TopicsAnswer.model_validate(reader.get("/api/v1/monitors/health/topics").json())
    assert len(found.windows) == 5
    for window in range(5):
        assert sum(topic.shares[window] for topic in found.topics) == pytest.approx(1, abs=0.01)
    assert all("hospital" not in topic.words for topic in found.topics)


def test_a_job_can_be_asked_to_stop(browse: Callable[..., Browser]) -> None:
    browser = browse()
    browser.post("/api/v1/monitors", json={"name": "flu", "subject": "Flu", "keywords": ["flu"]})
    job = browser.app.state.studio.monitor("flu").records.jobs.add("backtest")
    answer = browser.post(f"/api/v1/monitors/flu/jobs/{job}/cancel", json={})
    assert (answer.status_code, answer.json()["cancelled"]) == (202, True)
    assert browser.get(f"/api/v1/monitors/flu/jobs/{'0' * 16}").status_code == 404
    assert browser.get("/api/v1/monitors/flu/jobs/..%2f..").status_code == 404
