"""Roles: words for a kind of application ("the browser", "notepad"), and how a desktop says who plays them.

A role is filled by the user's MIME default, else by what declares the category. Brand names of another platform
("word", "notepad") stand for their kind, unless an application of that very name is installed (ranking sees to it).
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Role(BaseModel):
    """``mime``: whose default application plays the role. ``categories``: XDG categories, each a ``+``-joined set that
    an application must declare (``!`` in front: must not). ``alternative``: a Debian alternative naming the default.
    ``akin``: programs of that kind that may not be here, and what people call the kind without it being its name: not
    opened for it, but offered."""

    model_config = ConfigDict(frozen=True)

    words: tuple[str, ...]
    mime: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    alternative: str = ""
    akin: tuple[str, ...] = ()


def _role(words: str, mime: str = "", categories: str = "", alternative: str = "", akin: str = "") -> Role:
    return Role(
        words=tuple(word.strip() for word in words.split(",")),
        mime=tuple(mime.split()),
        categories=tuple(categories.split()),
        alternative=alternative,
        akin=tuple(word.strip() for word in akin.split(",")) if akin else (),
    )


_OOXML = "application/vnd.openxmlformats-officedocument"
_ODF = "application/vnd.oasis.opendocument"

ROLES: tuple[Role, ...] = (
    _role(
        "text editor, editor, plain text editor, notepad, note pad, textedit, wordpad",
        "text/plain",
        "TextEditor",
        akin="gedit, kate, kwrite, pluma, xed, leafpad, featherpad, mousepad, geany, notepad plus plus, bbedit, "
        "writing pad, scratch pad, scratchpad, note taker, memo pad, jotter, notes app",
    ),
    _role(
        "calculator, calc",
        "",
        "Calculator",
        akin="galculator, kcalc, gnome calculator, xcalc, speedcrunch, qalculate, adding machine, calculating "
        "machine, number cruncher, pocket calculator",
    ),
    _role(
        "browser, web browser, internet, the internet, internet browser, the web",
        "x-scheme-handler/https x-scheme-handler/http text/html",
        "WebBrowser",
        "x-www-browser",
        akin="firefox, mozilla firefox, chrome, google chrome, chromium, edge, microsoft edge, safari, opera, "
        "brave, vivaldi, konqueror, epiphany, midori, falkon, web surfer",
    ),
    _role(
        "terminal, terminal emulator, console, command line, command prompt, shell, cmd, powershell",
        "x-scheme-handler/terminal",
        "TerminalEmulator",
        "x-terminal-emulator",
        akin="xterm, konsole, gnome terminal, xfce terminal, kitty, alacritty, iterm, terminator, tilix, command "
        "window",
    ),
    _role(
        "files, file manager, file browser, file explorer, explorer, finder, folders, my files",
        "inode/directory",
        "FileManager",
        akin="nautilus, dolphin, thunar, nemo, caja, pcmanfm, windows explorer, file cabinet",
    ),
    _role(
        "mail, email, e mail, email client, mail client, outlook, inbox",
        "x-scheme-handler/mailto",
        "Email",
        akin="thunderbird, evolution, kmail, geary, apple mail, claws mail, mail program, letter box, post box",
    ),
    _role(
        "music, music player, audio player, music app, songs, itunes",
        "audio/mpeg audio/flac",
        "Audio+Player Music+Player",
        akin="rhythmbox, clementine, strawberry, amarok, audacious, elisa, winamp, foobar, jukebox",
    ),
    _role(
        "video player, movie player, media player, videos, movies",
        "video/mp4 video/x-matroska",
        "Video+Player AudioVideo+Player",
        akin="vlc, mpv, totem, kodi, mplayer, smplayer, celluloid, quicktime, quick time, windows media player, "
        "film player",
    ),
    _role(
        "image viewer, picture viewer, photo viewer, pictures",
        "image/png image/jpeg",
        "Graphics+Viewer+RasterGraphics",
        akin="eye of gnome, gwenview, ristretto, geeqie, feh, irfanview, picture book",
    ),
    _role("photos, photo manager, photo gallery", "", "Photography"),
    _role(
        "image editor, photo editor, picture editor, photoshop",
        "image/x-xcf",
        "2DGraphics+RasterGraphics+!Viewer",
        akin="gimp, krita, photopea, affinity photo",
    ),
    _role(
        "paint, drawing program, drawing",
        "",
        "2DGraphics+RasterGraphics+!Viewer",
        akin="ms paint, microsoft paint, kolourpaint, pinta, tux paint, mtpaint, sketch pad, drawing board",
    ),
    _role(
        "vector editor, vector graphics, illustrator",
        "image/svg+xml",
        "VectorGraphics",
        akin="inkscape, corel draw, coreldraw, affinity designer",
    ),
    _role(
        "word processor, word, microsoft word",
        f"{_ODF}.text {_OOXML}.wordprocessingml.document",
        "WordProcessor",
        akin="libreoffice writer, openoffice writer, abiword, word perfect, letter writer",
    ),
    _role(
        "spreadsheet, spreadsheets, excel, microsoft excel",
        f"{_ODF}.spreadsheet {_OOXML}.spreadsheetml.sheet",
        "Spreadsheet",
        akin="libreoffice calc, openoffice calc, gnumeric, apple numbers, lotus",
    ),
    _role(
        "presentation, presentations, slides, powerpoint, power point, microsoft powerpoint",
        f"{_ODF}.presentation {_OOXML}.presentationml.presentation",
        "Presentation",
        akin="libreoffice impress, openoffice impress, keynote, slide maker",
    ),
    _role(
        "pdf viewer, pdf reader, document viewer, pdf, acrobat",
        "application/pdf",
        "Office+Viewer",
        akin="okular, evince, acrobat reader, adobe reader, adobe acrobat, foxit, xpdf, zathura",
    ),
    _role("e book reader, ebook reader, book reader", "application/epub+zip", "Literature+Viewer"),
    _role(
        "calendar, my calendar, agenda",
        "text/calendar",
        "Calendar",
        akin="korganizer, gnome calendar, google calendar, day planner, diary",
    ),
    _role("contacts, address book, my contacts", "text/vcard", "ContactManagement"),
    _role(
        "settings, system settings, control panel, control center, preferences, system preferences",
        "",
        "Settings+DesktopSettings",
    ),
    _role(
        "system monitor, task manager, activity monitor, process viewer",
        "",
        "System+Monitor",
        akin="htop, gnome system monitor, ksysguard, process explorer",
    ),
    _role(
        "software, app store, software center, software manager, package manager, store",
        "",
        "PackageManager",
        akin="synaptic, gnome software, discover, microsoft store",
    ),
    _role(
        "camera, webcam",
        "",
        "Camera",
        akin="cheese, photo booth, kamoso",
    ),
    _role(
        "archive manager, zip program, unzip, winzip",
        "application/zip application/x-tar",
        "Archiving+Compression Archiving",
        akin="file roller, ark, seven zip, 7 zip, xarchiver, winrar",
    ),
    _role("disk usage, disk space, disk usage analyzer", "", "Filesystem+System"),
    _role(
        "volume control, mixer, sound mixer, volume, sound settings",
        "",
        "Mixer",
        akin="pavucontrol, pulse audio volume control, alsamixer",
    ),
    _role(
        "chat, messenger, instant messenger, messages",
        "",
        "InstantMessaging",
        akin="pidgin, gajim, element, signal, telegram, whatsapp",
    ),
    _role("maps, map", "x-scheme-handler/geo", "Maps"),
    _role("clock, clocks, alarm clock, alarms", "", "Clock"),
    _role(
        "code editor, programming editor, development environment, ide",
        "",
        "IDE",
        akin="visual studio code, vs code, vscode, eclipse, pycharm, xcode, intellij, sublime text, atom",
    ),
    _role("radio, radio app", "", "Tuner"),
    _role("dictionary", "", "Dictionary"),
    _role("torrent client, torrent, bittorrent", "x-scheme-handler/magnet", "P2P"),
    _role(
        "screenshot tool, snipping tool, screen capture",
        "",
        "Screenshot",
        akin="flameshot, spectacle, ksnip, gnome screenshot",
    ),
    _role(
        "sound recorder, voice recorder, audio recorder, audio editor",
        "",
        "Recorder AudioVideoEditing+Audio",
        akin="audacity, gnome sound recorder, dictaphone",
    ),
    _role(
        "video editor, movie editor",
        "",
        "AudioVideoEditing+Video AudioVideoEditing",
        akin="kdenlive, openshot, shotcut, final cut, imovie, premiere, davinci resolve",
    ),
    _role("screen recorder", "", "Recorder+Video"),
    _role("weather", "", "Weather"),
)
