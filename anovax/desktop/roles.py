"""Roles: words for a kind of application ("the browser", "notepad"), and how a desktop says who plays them.

A role is filled by the user's MIME default, else by what declares the category. Brand names of another platform
("word", "notepad") stand for their kind, unless an application of that very name is installed (ranking sees to it).
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Role(BaseModel):
    """``mime``: whose default application plays the role. ``categories``: XDG categories, each a ``+``-joined set that
    an application must declare (``!`` in front: must not). ``alternative``: a Debian alternative naming the default."""

    model_config = ConfigDict(frozen=True)

    words: tuple[str, ...]
    mime: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    alternative: str = ""


def _role(words: str, mime: str = "", categories: str = "", alternative: str = "") -> Role:
    return Role(
        words=tuple(word.strip() for word in words.split(",")),
        mime=tuple(mime.split()),
        categories=tuple(categories.split()),
        alternative=alternative,
    )


_OOXML = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"

ROLES: tuple[Role, ...] = (
    _role("text editor, editor, plain text editor, notepad, note pad, textedit, wordpad", "text/plain", "TextEditor"),
    _role("calculator, calc", "", "Calculator"),
    _role(
        "browser, web browser, internet, the internet, internet browser, the web",
        "x-scheme-handler/https x-scheme-handler/http text/html",
        "WebBrowser",
        "x-www-browser",
    ),
    _role(
        "terminal, terminal emulator, console, command line, command prompt, shell, cmd, powershell",
        "x-scheme-handler/terminal",
        "TerminalEmulator",
        "x-terminal-emulator",
    ),
    _role(
        "files, file manager, file browser, file explorer, explorer, finder, folders, my files",
        "inode/directory",
        "FileManager",
    ),
    _role("mail, email, e mail, email client, mail client, outlook, inbox", "x-scheme-handler/mailto", "Email"),
    _role(
        "music, music player, audio player, music app, songs, itunes",
        "audio/mpeg audio/flac",
        "Audio+Player Music+Player",
    ),
    _role(
        "video player, movie player, media player, videos, movies",
        "video/mp4 video/x-matroska",
        "Video+Player AudioVideo+Player",
    ),
    _role(
        "image viewer, picture viewer, photo viewer, pictures", "image/png image/jpeg", "Graphics+Viewer+RasterGraphics"
    ),
    _role("photos, photo manager, photo gallery", "", "Photography"),
    _role("image editor, photo editor, picture editor, photoshop", "image/x-xcf", "2DGraphics+RasterGraphics+!Viewer"),
    _role("paint, drawing program, drawing", "", "2DGraphics+RasterGraphics+!Viewer"),
    _role("vector editor, vector graphics, illustrator", "image/svg+xml", "VectorGraphics"),
    _role("word processor, word, microsoft word", f"{_ODF}.text {_OOXML}.wordprocessingml.document", "WordProcessor"),
    _role(
        "spreadsheet, spreadsheets, excel, microsoft excel",
        f"{_ODF}.spreadsheet {_OOXML}.spreadsheetml.sheet",
        "Spreadsheet",
    ),
    _role(
        "presentation, presentations, slides, powerpoint, power point, microsoft powerpoint",
        f"{_ODF}.presentation {_OOXML}.presentationml.presentation",
        "Presentation",
    ),
    _role("pdf viewer, pdf reader, document viewer, pdf, acrobat", "application/pdf", "Office+Viewer"),
    _role("e book reader, ebook reader, book reader", "application/epub+zip", "Literature+Viewer"),
    _role("calendar, my calendar, agenda", "text/calendar", "Calendar"),
    _role("contacts, address book, my contacts", "text/vcard", "ContactManagement"),
    _role(
        "settings, system settings, control panel, control center, preferences, system preferences",
        "",
        "Settings+DesktopSettings",
    ),
    _role("system monitor, task manager, activity monitor, process viewer", "", "System+Monitor"),
    _role("software, app store, software center, software manager, package manager, store", "", "PackageManager"),
    _role("camera, webcam", "", "Camera"),
    _role(
        "archive manager, zip program, unzip, winzip",
        "application/zip application/x-tar",
        "Archiving+Compression Archiving",
    ),
    _role("disk usage, disk space, disk usage analyzer", "", "Filesystem+System"),
    _role("volume control, mixer, sound mixer, volume, sound settings", "", "Mixer"),
    _role("chat, messenger, instant messenger, messages", "", "InstantMessaging"),
    _role("maps, map", "x-scheme-handler/geo", "Maps"),
    _role("clock, clocks, alarm clock, alarms", "", "Clock"),
    _role("code editor, programming editor, development environment, ide", "", "IDE"),
    _role("radio, radio app", "", "Tuner"),
    _role("dictionary", "", "Dictionary"),
    _role("torrent client, torrent, bittorrent", "x-scheme-handler/magnet", "P2P"),
    _role("screenshot tool, snipping tool, screen capture", "", "Screenshot"),
    _role("sound recorder, voice recorder, audio recorder, audio editor", "", "Recorder AudioVideoEditing+Audio"),
    _role("video editor, movie editor", "", "AudioVideoEditing+Video AudioVideoEditing"),
    _role("screen recorder", "", "Recorder+Video"),
    _role("weather", "", "Weather"),
)
