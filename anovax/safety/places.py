"""Where keys would land: what kind of window or field has the focus."""

from __future__ import annotations

import re
from enum import StrEnum

from anovax.tool import WindowRef


class Place(StrEnum):
    """TERMINAL, RUN_BOX, CONSOLE and UNKNOWN take commands; the others take text."""

    TERMINAL = "terminal"
    RUN_BOX = "run box"
    CONSOLE = "console"
    ADDRESS = "address bar"
    BROWSER = "browser"
    DOCUMENT = "document"
    FILE_DIALOG = "file dialog"
    FILES = "file manager"
    CHAT = "chat"
    OTHER = "application"
    UNKNOWN = "unknown window"

    @property
    def takes_commands(self) -> bool:
        return self in (Place.TERMINAL, Place.RUN_BOX, Place.CONSOLE, Place.UNKNOWN)


# Whole words of a WM_CLASS, an executable's name or a spoken application name. First match wins: a terminal must not be
# taken for a text editor because its title says "notes".
_WORDS: tuple[tuple[Place, str], ...] = (
    (
        Place.TERMINAL,
        r"terminal|terminals|xterm|uxterm|rxvt|urxvt|konsole|alacritty|kitty|terminator|tilix|wezterm|"
        r"foot|footclient|guake|yakuake|"
        r"tilda|sakura|qterminal|lxterminal|lxterm|mlterm|eterm|aterm|st|xfce4-terminal|gnome-terminal|"
        r"gnome-terminal-server|"
        r"mate-terminal|deepin-terminal|cool-retro-term|hyper|warp|tabby|contour|ghostty|rio|black box|"
        r"blackbox|ptyxis|kgx|"
        r"console|command prompt|command line|commandline|cmd|powershell|pwsh|conhost|mintty|git bash|"
        r"bash|zsh|fish|sh|dash|"
        r"ksh|shell|windows ?terminal|wt|iterm2?|putty|ssh|tmux|screen session|wsl|ubuntu on windows|"
        r"cygwin|msys2?|python shell|"
        r"ipython|idle|python|python3|node|psql|mysql|sqlite3?|irb|diskpart|nushell|nu|elvish|xonsh|term",
    ),
    (
        Place.RUN_BOX,
        r"run|run box|run dialog|run command|launcher|application launcher|app launcher|krunner|rofi|"
        r"dmenu|wofi|fuzzel|ulauncher|albert|"
        r"synapse|spotlight|alfred|raycast|gmrun|xfrun4|xfce4-appfinder|start menu|whisker menu|"
        r"application finder|powertoys run|"
        r"command palette|lxqt-runner|bemenu|tofi|kupfer|cerebro|flow launcher|wox|keypirinha|gnome do",
    ),
    (
        Place.FILES,
        (
            r"nautilus|thunar|dolphin|nemo|pcmanfm|pcmanfm-qt|caja|spacefm|files|file manager|file explorer|"
            r"explorer|finder"
        ),
    ),
    (
        Place.BROWSER,
        r"browser|web browser|firefox|chrome|google chrome|chromium|brave|edge|msedge|microsoft edge|"
        r"opera|vivaldi|safari|falkon|epiphany|"
        r"konqueror|midori|librewolf|waterfox|palemoon|qutebrowser|tor browser|navigator|firefox-esr|"
        r"google-chrome|chromium-browser|"
        r"brave-browser|internet explorer|iexplore",
    ),
    (
        Place.CHAT,
        r"slack|discord|telegram|telegram-desktop|telegramdesktop|signal|whatsapp|element|teams|microsoft "
        r"teams|skype|thunderbird|evolution|"
        r"mail|geary|outlook|hexchat|pidgin|zoom|messages|mattermost|zulip|kmail|email|mail client",
    ),
    (
        Place.DOCUMENT,
        r"mousepad|gedit|kate|kwrite|pluma|xed|leafpad|l3afpad|featherpad|notepad|notepad\+\+|notepadqq|"
        r"wordpad|text editor|texteditor|editor|"
        r"gnome-text-editor|org\.gnome\.texteditor|libreoffice|libreoffice-writer|libreoffice-calc|writer|"
        r"word|winword|microsoft word|soffice|"
        r"abiword|calligra|onlyoffice|excel|spreadsheet|powerpoint|impress|textedit|sublime|sublime text|"
        r"sublime_text|code|vscode|vscodium|"
        r"codium|code-oss|visual studio code|vs code|atom|geany|obsidian|joplin|zettlr|typora|ghostwriter|"
        r"focuswriter|gvim|vim|neovim|"
        r"nvim|emacs|xemacs|notes|sticky notes|gnote|tomboy|xpad|onenote|evernote|notion|notepads|jupyter|"
        r"pycharm|intellij|eclipse|"
        r"netbeans|texstudio|lyx|document|pages|keep|google docs|simplenote|standard notes|zim|cherrytree|"
        r"medit|nedit|xedit|bluefish|scite",
    ),
    (
        Place.OTHER,
        r"calculator|galculator|gnome-calculator|kcalc|calc|speedcrunch|qalculate|qalculate-gtk|xcalc|"
        r"spotify|vlc|rhythmbox|clementine|mpv|"
        r"totem|audacious|music|music player|video player|calendar|gnome-calendar|clock|gnome-clocks|"
        r"weather|maps|photos|gimp|inkscape|"
        r"krita|paint|mspaint|eog|gwenview|evince|okular|pdf|camera|cheese|blender|steam|games?|settings|"
        r"gnome-control-center",
    ),
)
_PATTERNS = tuple((place, re.compile(rf"(?<![\w.+-])(?:{words})(?![\w+-])")) for place, words in _WORDS)


def place_of_name(name: str) -> Place:
    """The kind of application that somebody means by a spoken name. UNKNOWN when no word of it is known."""
    text = re.sub(r"\.(exe|desktop|app|lnk|com)\b", "", " ".join(name.casefold().split()))
    for place, pattern in _PATTERNS:
        if pattern.search(text):
            return place
    return Place.UNKNOWN


def place_of_window(window: WindowRef | None) -> Place:
    """The kind of a real window. The class decides; the title only can make it stricter (a shell's title, a run dialog):
    a web page or a document may call itself what it likes."""
    if window is None:
        return Place.UNKNOWN
    place = place_of_name(window.app.split(".")[-1]) if window.app else Place.UNKNOWN
    if place is Place.UNKNOWN and window.app:
        place = place_of_name(window.app)
    if place in (Place.TERMINAL, Place.RUN_BOX):
        return place
    titled = window.title.casefold().strip()
    if re.fullmatch(r"run( (a )?(program|command|application|dialog))?|application finder|alt-f2", titled):
        return Place.RUN_BOX
    if re.search(r"developer tools|devtools|web console|browser console", titled) and place is Place.BROWSER:
        return Place.CONSOLE
    if re.fullmatch(
        r"(save|save as|open|open file|export|save file|choose a file|select a file|file upload)(…|\.\.\.)?", titled
    ):
        return Place.FILE_DIALOG
    return place
