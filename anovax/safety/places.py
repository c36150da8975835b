"""Where keys would land: what kind of window or field has the focus."""

from __future__ import annotations

import re
from enum import StrEnum

from anovax.tool import WindowRef


class Place(StrEnum):
    """TERMINAL, RUN_BOX, CONSOLE and UNKNOWN take commands; the others take text. A MODAL editor (vi) takes both."""

    TERMINAL = "terminal"
    RUN_BOX = "run box"
    CONSOLE = "console"
    ADDRESS = "address bar"
    BROWSER = "browser"
    DOCUMENT = "document"
    MODAL = "modal editor"
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
_WORDS: dict[Place, str] = {
    Place.TERMINAL: (
        r"terminal|terminals|xterm|uxterm|rxvt|urxvt|konsole|alacritty|kitty|terminator|tilix|wezterm|foot|"
        r"footclient|guake|yakuake|tilda|sakura|qterminal|lxterminal|lxterm|mlterm|eterm|aterm|st|xfce4-terminal|"
        r"gnome-terminal|gnome-terminal-server|mate-terminal|deepin-terminal|cool-retro-term|hyper|warp|tabby|"
        r"contour|ghostty|rio|black box|blackbox|ptyxis|kgx|console|command prompt|command line|commandline|cmd|"
        r"powershell|pwsh|conhost|mintty|git bash|bash|zsh|fish|sh|dash|ksh|shell|windows ?terminal|wt|iterm2?|"
        r"putty|ssh|tmux|screen session|wsl|ubuntu on windows|cygwin|msys2?|python shell|ipython|idle|python|"
        r"python3|node|psql|mysql|sqlite3?|irb|diskpart|nushell|nu|elvish|xonsh|term"
    ),
    Place.RUN_BOX: (
        r"run|run box|run dialog|run command|launcher|application launcher|app launcher|krunner|rofi|dmenu|wofi|"
        r"fuzzel|ulauncher|albert|synapse|spotlight|alfred|raycast|gmrun|xfrun4|xfce4-appfinder|start menu|"
        r"whisker menu|application finder|powertoys run|command palette|lxqt-runner|bemenu|tofi|kupfer|cerebro|"
        r"flow launcher|wox|keypirinha|gnome do"
    ),
    Place.FILES: (
        r"nautilus|thunar|dolphin|nemo|pcmanfm|pcmanfm-qt|caja|spacefm|files|file manager|file explorer|explorer|"
        r"finder"
    ),
    Place.BROWSER: (
        r"browser|web browser|firefox|chrome|google chrome|chromium|brave|edge|msedge|microsoft edge|opera|vivaldi|"
        r"safari|falkon|epiphany|konqueror|midori|librewolf|waterfox|palemoon|qutebrowser|tor browser|navigator|"
        r"firefox-esr|google-chrome|chromium-browser|brave-browser|internet explorer|iexplore"
    ),
    Place.CHAT: (
        r"slack|discord|telegram|telegram-desktop|telegramdesktop|signal|whatsapp|element|teams|microsoft teams|"
        r"skype|thunderbird|evolution|mail|geary|outlook|hexchat|pidgin|zoom|messages|mattermost|zulip|kmail|email|"
        r"mail client"
    ),
    Place.MODAL: r"vi|vim|gvim|macvim|mvim|neovim|nvim|neovide|nvim-qt|kakoune|kak|helix|spacemacs|ex",
    Place.DOCUMENT: (
        r"mousepad|gedit|kate|kwrite|pluma|xed|leafpad|l3afpad|featherpad|notepad|notepad\+\+|notepadqq|wordpad|"
        r"text editor|texteditor|editor|gnome-text-editor|org\.gnome\.texteditor|libreoffice|libreoffice-writer|"
        r"libreoffice-calc|writer|word|winword|microsoft word|soffice|abiword|calligra|onlyoffice|excel|"
        r"spreadsheet|powerpoint|impress|textedit|sublime|sublime text|sublime_text|code|vscode|vscodium|codium|"
        r"code-oss|visual studio code|vs code|atom|geany|obsidian|joplin|zettlr|typora|ghostwriter|focuswriter|"
        r"emacs|xemacs|notes|sticky notes|gnote|tomboy|xpad|onenote|evernote|notion|notepads|"
        r"jupyter|pycharm|intellij|eclipse|netbeans|texstudio|lyx|document|pages|keep|google docs|simplenote|"
        r"standard notes|zim|cherrytree|medit|nedit|xedit|bluefish|scite"
    ),
    Place.OTHER: (
        r"calculator|galculator|gnome-calculator|kcalc|calc|speedcrunch|qalculate|qalculate-gtk|xcalc|spotify|vlc|"
        r"rhythmbox|clementine|mpv|totem|audacious|music|music player|video player|calendar|gnome-calendar|clock|"
        r"gnome-clocks|weather|maps|photos|gimp|inkscape|krita|paint|mspaint|eog|gwenview|evince|okular|pdf|camera|"
        r"cheese|blender|steam|games?|settings|gnome-control-center"
    ),
}
_PATTERNS = tuple((place, re.compile(rf"(?<![\w.+-])(?:{words})(?![\w+-])")) for place, words in _WORDS.items())


def place_of_name(name: str) -> Place:
    """The kind of application that somebody means by a spoken name. UNKNOWN when no word of it is known."""
    text = re.sub(r"\.(exe|desktop|app|lnk|com)\b", "", " ".join(name.casefold().split()))
    for place, pattern in _PATTERNS:
        if pattern.search(text):
            return place
    return Place.UNKNOWN


def place_of_window(window: WindowRef | None) -> Place:
    """The kind of a real window. The class decides; a title can only make it stricter (a run dialog):
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
