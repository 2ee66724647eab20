"""Progress by default: a bar where somebody looks on, nothing in scripts."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest
from rich.console import Console

from klda import KLDA, Corpus, interactive, recommend
from klda.interactive import bars, is_interactive, line, shown
from klda.simulation import World
from klda.types import silent

WORLD = World(weeks=3, posts_per_week=200)


def test_a_script_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    assert not is_interactive()
    recommend(WORLD, ["health"], policy="counting")
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def prompt(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A Python prompt in a terminal."""
    screen = io.StringIO()
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=screen, force_terminal=True, width=100))
    return screen


def test_at_a_prompt_a_bar_is_shown_once_however_deep_the_work_goes(prompt: io.StringIO) -> None:
    with shown(None) as outer, shown(None) as inner:
        assert outer is not silent
        assert inner is silent
    with shown(None) as again:
        assert again is not silent
    assert "starting" in prompt.getvalue()


def test_advice_corpora_and_models_show_it_unasked(prompt: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    stages: list[str] = []

    class Told:
        def __enter__(self) -> object:
            return lambda stage, done, total=None, **facts: stages.append(stage)

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(interactive, "bars", lambda console: Told())
    corpus = Corpus.from_posts(WORLD, ["health"])
    assert stages.pop() == "prepare"
    recommend(WORLD, ["health"], policy="counting")
    assert "prepare" in stages
    stages.clear()
    KLDA(n_topics=2, pretraining_iterations=2, max_iterations=2).fit(corpus)
    assert stages
    recommend(WORLD, ["health"], policy="counting", progress=silent)


def test_a_callback_of_ones_own_goes_first(prompt: io.StringIO) -> None:
    def own(stage: str, done: int, total: int | None = None, **facts: float) -> None: ...

    with shown(own) as report:
        assert report is own


def test_a_notebook_is_interactive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not is_interactive()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=object))
    assert is_interactive()


def test_a_notebook_without_widgets_gets_one_line() -> None:
    screen = io.StringIO()
    with line(screen) as report:
        report("training", 50, 200, bound=-7.1)
        report("training", 60)
    first, second, cleared = screen.getvalue().split("\r")[1:4]
    assert first == "training |██████                  | 50/200 bound -7.1"
    assert second.rstrip() == "training 60"
    assert cleared.strip() == ""


def test_a_bar_goes_when_the_work_fails() -> None:
    screen = io.StringIO()

    def fail() -> None:
        with bars(Console(file=screen, force_terminal=True, width=100)) as report:
            report("training", 1, 2)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    assert "training" in screen.getvalue()
