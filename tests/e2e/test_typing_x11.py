"""Typing on a real X server into real applications: what arrives is read by the application's own means."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from desktop_rig import make_step, until
from typing_apps import QT, TK, FileApp, Mousepad, Terminal, TypingApp, WebPage
from typing_texts import texts

from anovax.desktop import Desktop
from anovax.desktop.x11_connection import Connection
from anovax.desktop.x11_windows import Windows
from anovax.tool import StepContext

LAYOUTS = (("us", ""), ("de", ""), ("fr", ""), ("pl", ""), ("ru", ""), ("us", "dvorak"))

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]


@pytest.fixture(params=["xterm", "gtk", "tk", "qt", "chromium"])
def app(request: pytest.FixtureRequest, start, tmp_path: Path, desktop: Desktop):  # type: ignore[no-untyped-def]
    if request.param == "xterm":
        yield Terminal(start, tmp_path)
    elif request.param == "gtk":
        yield Mousepad(start, tmp_path, desktop, make_step(600))
    elif request.param == "tk":
        pytest.importorskip("tkinter")
        yield FileApp(start, tmp_path, TK, "Tk notes")
    elif request.param == "qt":
        pytest.importorskip("PySide6.QtWidgets")
        yield FileApp(start, tmp_path, QT, "Qt notes")
    else:
        page = WebPage(start, tmp_path)
        yield page
        page.close()


def typed(app: TypingApp, text: str, desktop: Desktop, step: StepContext) -> str:
    """Clear, type, and what the application says it got."""
    app.clear(desktop, step)
    assert until(lambda: app.content() == ""), f"not cleared: {app.content()!r}"
    desktop.type_text(text, app.window, step)
    until(lambda: app.content() == text, 4.0)
    return app.content()


Counted = Callable[[int], Iterator[int]]


def wrong(app: TypingApp, wanted: list[str], desktop: Desktop, counted: Counted) -> list[tuple[str, str]]:
    step = make_step(3000)
    rounds = zip(wanted, counted(len(wanted)), strict=True)
    return [(text, got) for text, _ in rounds if (got := typed(app, text, desktop, step)) != text]


@pytest.mark.parametrize("names", [("us", ""), ("ru", "")], ids=["us", "ru"])
def test_text_arrives_byte_for_byte(
    app: TypingApp, names: tuple[str, str], desktop: Desktop, layout: Callable[..., None], counted: Counted
) -> None:
    layout(*names)
    assert wrong(app, texts(14), desktop, counted) == []


@pytest.mark.parametrize("app", ["qt", "gtk", "chromium"], indirect=True)
def test_an_application_says_when_it_has_caught_up(app: TypingApp, desktop: Desktop) -> None:
    """Before a spare key changes its meaning, and after: toolkits answer a ping in different ways."""
    connection = Connection(os.environ["DISPLAY"])
    try:
        assert Windows(connection).answers(app.window.id, 20.0) is True
    finally:
        connection.close()


@pytest.mark.full
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("names", LAYOUTS, ids=["us", "de", "fr", "pl", "ru", "dvorak"])
def test_five_hundred_texts(
    app: TypingApp, names: tuple[str, str], desktop: Desktop, layout: Callable[..., None], counted: Counted
) -> None:
    layout(*names)
    missed = wrong(app, texts(500), desktop, counted)
    print(f"{app.window.app} {names}: {len(missed)} of 500 wrong")
    assert missed == []


def long_text(length: int, start: Callable[..., object], folder: Path, desktop: Desktop) -> None:
    app = Terminal(start, folder)
    text = ("".join(texts(500)) * 3)[:length]
    begun = time.monotonic()
    desktop.type_text(text, app.window, make_step(400))
    spent = time.monotonic() - begun
    until(lambda: app.content() == text)
    assert app.content() == text
    print(f"{len(text) / spent:.0f} characters/s", file=sys.stderr)


def test_a_long_text(start: Callable[..., object], tmp_path: Path, desktop: Desktop) -> None:
    long_text(1_500, start, tmp_path, desktop)


@pytest.mark.full
@pytest.mark.timeout(500)
def test_ten_thousand_characters(start: Callable[..., object], tmp_path: Path, desktop: Desktop) -> None:
    long_text(10_000, start, tmp_path, desktop)
