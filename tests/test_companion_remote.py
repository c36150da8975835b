"""What a phone sends, decoded: the recordings of all browsers, and what only looks like one."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import numpy as np
import pytest
from companion_rig import ScriptedAssistant, running

from anovax.desktop.backend import Monitor, Rect
from anovax.errors import AudioError
from anovax.remote import LONGEST_S, LaptopScreen, PhonePort, decoded
from anovax.request import Request
from anovax.tool import WindowRef

FRAGMENTED = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
KINDS = {  # as MediaRecorder makes them: container, codec, rate, options
    "audio/webm": ("webm", "libopus", 48_000, {}),  # Chromium, Firefox
    "audio/ogg": ("ogg", "libopus", 48_000, {}),  # Firefox
    "audio/mp4": ("mp4", "aac", 44_100, FRAGMENTED),  # Safari
    "audio/wav": ("wav", "pcm_s16le", 16_000, {}),
}


def recording(kind: str, seconds: float = 1.5) -> bytes:
    """A 440 Hz tone."""
    container, codec, rate, options = KINDS[kind]
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=container, options=options) as out:
        stream = out.add_stream(codec, rate=rate, layout="mono")
        tone = (np.sin(np.arange(int(seconds * rate)) * 2 * np.pi * 440 / rate) * 12_000).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(tone[None], format="s16", layout="mono")
        frame.rate = rate
        fifo = av.AudioFifo()
        fifo.write(frame)
        while (piece := fifo.read(stream.codec_context.frame_size or 1024, partial=True)) is not None:
            out.mux(stream.encode(piece))
        out.mux(stream.encode(None))
    return buffer.getvalue()


class Neighbour:
    """The running assistant as PhonePort needs it: a recogniser with a script, and a list of requests."""

    def __init__(self, heard: str) -> None:
        self.samples: list[np.ndarray] = []
        self.requests: list[Request] = []
        self.turn = "t1"
        self.transcriber: Any = SimpleNamespace(submit=self._submit)
        self._heard = heard

    def _submit(self, samples: np.ndarray) -> concurrent.futures.Future[Any]:
        self.samples.append(samples)
        done: concurrent.futures.Future[Any] = concurrent.futures.Future()
        done.set_result(SimpleNamespace(text=self._heard))
        return done

    def submit(self, request: Request) -> str:
        self.requests.append(request)
        return self.turn


@pytest.mark.parametrize("kind", KINDS)
async def test_every_browsers_recording_becomes_a_request_marked_as_remote(kind: str) -> None:
    at = Neighbour("open the calculator")
    assert await PhonePort(at).submit_audio(recording(kind), kind, "Pixel") == "open the calculator"  # type: ignore[arg-type]
    assert at.requests == [Request(text="open the calculator", source="phone", device="Pixel")]
    (samples,) = at.samples
    assert samples.dtype == np.float32
    assert 1.4 < len(samples) / 16_000 < 1.7
    spectrum = np.abs(np.fft.rfft(samples[4000:20_000]))
    assert np.argmax(spectrum) == pytest.approx(440, abs=2)


async def test_words_that_start_no_turn_were_heard_all_the_same() -> None:
    """A spoken "stop" or "yes" is carried out without a turn; the phone must not say that it heard nothing."""
    at = Neighbour("stop")
    at.turn = ""
    assert await PhonePort(at).submit_audio(recording("audio/webm"), "audio/webm", "Pixel") == "stop"  # type: ignore[arg-type]


async def test_silence_starts_nothing() -> None:
    at = Neighbour("")
    assert await PhonePort(at).submit_audio(recording("audio/wav"), "audio/wav", "Pixel") == ""  # type: ignore[arg-type]
    assert at.requests == []


async def test_without_a_recogniser_the_phone_is_told_to_type() -> None:
    at = Neighbour("x")
    at.transcriber = None
    with pytest.raises(AudioError, match="type the request instead"):
        await PhonePort(at).submit_audio(recording("audio/wav"), "audio/wav", "Pixel")  # type: ignore[arg-type]


async def test_only_one_preview_is_recognised_at_a_time() -> None:
    at, waiting = Neighbour("x"), concurrent.futures.Future[Any]()
    at.transcriber = SimpleNamespace(submit=lambda samples: waiting)
    port = PhonePort(at)  # type: ignore[arg-type]
    first = asyncio.create_task(port.transcribe_partial(np.zeros(16_000, np.float32)))
    await asyncio.sleep(0)
    assert await port.transcribe_partial(np.zeros(16_000, np.float32)) == ""
    waiting.set_result(SimpleNamespace(text="open the"))
    assert await first == "open the"


def test_the_longest_recording_of_the_page_is_taken_and_a_longer_one_refused() -> None:
    page = (Path(__file__).parents[1] / "companion" / "talk.js").read_text()
    assert "const LONGEST_MS = 60_000;" in page
    assert 60 < len(decoded(recording("audio/webm", 61))) / 16_000 <= LONGEST_S
    with pytest.raises(AudioError, match="longer than a minute; say it in shorter parts"):
        decoded(recording("audio/webm", LONGEST_S + 2))


def hostile(folder: Path) -> dict[str, bytes]:
    """Playlists name a file of this computer; the rest is damaged or of another kind."""
    other = folder / "private.wav"
    other.write_bytes(recording("audio/wav"))
    whole = recording("audio/webm")
    return {
        "hls": f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{other.as_uri()}\n#EXT-X-ENDLIST\n".encode(),
        "concat": f"ffconcat version 1.0\nfile '{other}'\n".encode(),
        "sdp": b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\nm=audio 5004 RTP/AVP 0\r\n",
        "flac": b"fLaC" + bytes(200),
        "empty webm": whole[:4],
        "webm head": whole[:60],
        "ogg junk": b"OggS" + b"\xff" * 4000,
        "wav without sound": recording("audio/wav", 0.0)[:44],
        "mp4 junk": b"\0\0\0\x18ftypisom" + b"\x7f" * 5000,
        "zeros": bytes(5000),
    }


@pytest.mark.parametrize("which", ["hls", "concat", "sdp", "flac", "empty webm", "webm head", "ogg junk",
                                   "wav without sound", "mp4 junk", "zeros"])  # fmt: skip
def test_what_only_looks_like_a_recording_gets_one_sentence_and_nothing_of_this_computer(
    tmp_path: Path, which: str
) -> None:
    with pytest.raises(AudioError) as caught:
        decoded(hostile(tmp_path)[which])
    assert caught.value.fix
    assert "/" not in str(caught.value)  # no path of this computer goes to the phone


async def test_half_a_recording_is_what_is_there_or_a_sentence() -> None:
    whole = recording("audio/mp4")
    heard = 0
    with contextlib.suppress(AudioError):
        heard = len(decoded(whole[: len(whole) // 2]))
    assert heard < 24_000


async def test_the_server_says_what_was_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = PhonePort(Neighbour("what time is it"))  # type: ignore[arg-type]
    monkeypatch.setattr(ScriptedAssistant, "submit_audio", lambda self, *given: port.submit_audio(*given))
    async with running(tmp_path) as rig, rig.session(rig.pair()) as web:
        reply = await web.post("/api/audio", data=recording("audio/mp4"), headers={"Content-Type": "audio/mp4"})
        assert (reply.status, await reply.json()) == (202, {"heard": "what time is it"})


@pytest.mark.parametrize(
    ("monitors", "pixels"),
    [
        ([((0, 0), 1.0)], (5, 6, 70, 80)),
        ([((0, 0), 1.0), ((-1920, -300), 1.0)], (1925, 306, 70, 80)),  # a second monitor, left and higher
        ([((0, 0), 2.0)], (10, 12, 140, 160)),  # two pixels for each logical one
    ],
)
def test_windows_and_pointer_stand_in_pixels_of_the_picture(
    monitors: list[tuple[tuple[int, int], float]], pixels: tuple[int, int, int, int]
) -> None:
    """Else a password manager would be covered beside where it is."""
    seen, gone = (WindowRef(id=n, app=app, title="t") for n, app in ((1, "keepassxc"), (2, "xterm")))
    frames = {1: Rect(x=5, y=6, w=70, h=80), 2: None}
    all_monitors = tuple(
        Monitor(rect=Rect(x=x, y=y, w=1920, h=1080), scale=scale, name="") for (x, y), scale in monitors
    )
    desktop: Any = SimpleNamespace(
        windows=lambda: (seen, gone),
        frame=lambda window: frames[window.id],
        monitors=lambda: all_monitors,
        pointer=lambda: (5, 6),
    )
    screen = LaptopScreen(desktop)
    (window,) = screen.windows()  # the other one is not on the screen
    assert (window.app, window.x, window.y, window.width, window.height) == ("keepassxc", *pixels)
    assert screen.pointer() == pixels[:2]
