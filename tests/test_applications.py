"""Finding applications by spoken names, reading desktop entries, starting programs."""

from __future__ import annotations

import json
import os
import plistlib
import time
from pathlib import Path

import pytest

from anovax.agents.app import chosen
from anovax.desktop import entries, others
from anovax.desktop.application import Application, Resolution
from anovax.desktop.applications import Applications
from anovax.desktop.launch import Launcher, shown
from anovax.desktop.ranking import resolve, sound
from anovax.desktop.windows_of import belongs, is_from
from anovax.errors import AmbiguousTarget, ToolError
from anovax.tool import WindowRef

DATA = Path(__file__).parent / "data"
DEFAULTS = {
    "x-scheme-handler/https": ("firefox",),
    "x-scheme-handler/mailto": ("thunderbird",),
    "text/plain": ("org.gnome.TextEditor",),
    "inode/directory": ("org.gnome.Nautilus",),
    "image/png": ("org.gnome.eog",),
    "application/pdf": ("org.gnome.Evince",),
    "audio/mpeg": ("org.gnome.Rhythmbox3",),
    "video/mp4": ("vlc",),
    "x-terminal-emulator": ("gnome-terminal",),
}


@pytest.fixture(scope="module")
def installed() -> tuple[Application, ...]:
    blocks = (DATA / "desktop_entries.txt").read_text(encoding="utf-8").split("=== ")[1:]
    named = [block.split("\n", 1) for block in blocks]
    found = [entries.parse_entry(text, name.removesuffix(".desktop")) for name, text in named]
    return tuple(app for app in found if app is not None)


def spoken_names() -> list[list[str]]:
    lines = (DATA / "spoken_names.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def outcome(found: Resolution) -> str:
    if found.app is not None:
        return found.app.id
    return "ask" if found.kind == "ambiguous" else "none"


# --- ranking ---------------------------------------------------------------------------------------------------------


def test_spoken_names_find_what_was_meant(installed: tuple[Application, ...]) -> None:
    """At least 98 % of the names (misheard ones too) come first; none starts something else."""
    named = [(said, want) for said, want in spoken_names() if want not in ("ask", "none")]
    got = {said: outcome(resolve(said, installed, DEFAULTS)) for said, _ in named}
    right = sum(got[said] == want for said, want in named)
    wrong = {said: got[said] for said, want in named if got[said] not in (want, "ask", "none")}
    assert len(installed) >= 60
    assert len(named) >= 150
    assert not wrong
    assert right / len(named) >= 0.98


def test_what_is_not_installed_starts_nothing(installed: tuple[Application, ...]) -> None:
    absent = [said for said, want in spoken_names() if want == "none"]
    assert {said: outcome(resolve(said, installed, DEFAULTS)) for said in absent} == dict.fromkeys(absent, "none")


def test_close_calls_ask(installed: tuple[Application, ...]) -> None:
    unclear = [said for said, want in spoken_names() if want == "ask"]
    assert unclear
    for said in unclear:
        assert outcome(resolve(said, installed, DEFAULTS)) == "ask", said


def test_kate_is_not_started_for_mate_and_the_other_way_round(installed: tuple[Application, ...]) -> None:
    """One letter of a short name makes another name: asked for, never started."""
    for said in ("katy", "kite", "skype", "vin", "slick"):
        assert outcome(resolve(said, installed, DEFAULTS)) in ("ask", "none"), said


def test_users_own_names_win(installed: tuple[Application, ...]) -> None:
    aliases = {"my editor": "emacs", "the beast": "blender"}
    assert outcome(resolve("my editor please", installed, DEFAULTS, aliases)) == "emacs"
    assert outcome(resolve("the beast", installed, DEFAULTS, aliases)) == "blender"


def test_an_exact_name_beats_the_default_of_its_kind(installed: tuple[Application, ...]) -> None:
    defaults = {**DEFAULTS, "text/plain": ("org.kde.kate",)}
    assert outcome(resolve("text editor", installed, defaults)) == "org.gnome.TextEditor"  # its very name
    assert outcome(resolve("notepad", installed, defaults)) == "org.kde.kate"


def test_without_defaults_two_of_a_kind_ask_and_a_variant_does_not(installed: tuple[Application, ...]) -> None:
    browsers = tuple(app for app in installed if app.id in ("firefox", "chromium"))
    assert outcome(resolve("browser", browsers)) == "ask"
    terminals = tuple(app for app in installed if app.id in ("debian-xterm", "debian-uxterm"))
    assert outcome(resolve("terminal", terminals)) == "debian-xterm"


def test_nothing_installed_is_no_crash() -> None:
    assert outcome(resolve("calculator", ())) == "none"
    assert outcome(resolve("!!!", ())) == "none"


def test_letters_heard_as_words_and_odd_text(installed: tuple[Application, ...]) -> None:
    assert outcome(resolve("VLC!", installed, DEFAULTS)) == "vlc"
    assert outcome(resolve("the “Firefox” app, please.", installed, DEFAULTS)) == "firefox"
    assert outcome(resolve("x" * 200, installed, DEFAULTS)) == "none"


@pytest.mark.parametrize(
    ("one", "two"), [("kalkulator", "calculator"), ("phire", "fire"), ("gymp", "gimp"), ("nite", "night")]
)
def test_sound_is_one_for_what_sounds_alike(one: str, two: str) -> None:
    assert sound(one) == sound(two)


def test_the_answer_names_candidates() -> None:
    app = Application(id="a", name="Mousepad", command=("mousepad",))
    with pytest.raises(ToolError, match=r"No application called 'imgur'.*open_url https://imgur.com"):
        chosen(resolve("imgur", (app,)), "imgur")
    twins = tuple(
        Application(id=str(n), name=f"Player {n}", generic=("Media Player",), command=(f"player{n}",)) for n in (1, 2)
    )
    with pytest.raises(AmbiguousTarget) as asked:
        chosen(resolve("media player", twins), "media player")
    assert set(asked.value.candidates) == {"Player 1", "Player 2"}


def test_what_is_of_the_kind_that_was_meant_is_offered_not_opened() -> None:
    app = Application(id="a", name="Mousepad", command=("mousepad",), categories=("TextEditor",))
    for said in ("gedit", "the scratch pad please"):
        with pytest.raises(ToolError, match="is installed; Mousepad is of its kind") as failed:
            chosen(resolve(said, (app,)), said)
        assert failed.value.remedy == ({"tool": "open_app", "name": "Mousepad"},)
    with pytest.raises(ToolError) as failed:
        chosen(resolve("jukebox", (app,)), "jukebox")  # nothing here plays music
    assert failed.value.remedy == ()


# --- desktop entries -------------------------------------------------------------------------------------------------

ENTRY = """[Desktop Entry]
Type=Application
Name=Files
Name[de]=Dateien
Name[de_AT]=Daten
GenericName=File Manager
Keywords=folder;disk;
Exec={exec}
{more}
[Desktop Action new]
Name=New window
Exec=wrong
"""


def entry(exec_line: str = "files %U", more: str = "", **kinds: object) -> Application | None:
    return entries.parse_entry(ENTRY.format(exec=exec_line, more=more), "files", "/x/files.desktop", **kinds)  # type: ignore[arg-type]


def test_localised_name_and_plain_name_are_both_names() -> None:
    app = entry(wanted=entries.locales({"LANG": "de_CH.UTF-8"}))
    assert app is not None
    assert app.name == "Dateien"
    assert app.names == ("Dateien", "Files")
    assert entries.locales({"LANG": "de_AT.UTF-8@euro"}) == ("de_AT@euro", "de_AT", "de@euro", "de")
    assert entries.locales({"LANG": "C.UTF-8"}) == ()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("files %U", ("files",)),
        ("/usr/bin/app --name=%c --file %f", ("/usr/bin/app", "--name=Files", "--file")),
        ('"/opt/My App/run" --percent 100%%', ("/opt/My App/run", "--percent", "100%")),
        ("env LANG=C app -- %u", ("env", "LANG=C", "app", "--")),
        ('broken "quote', ()),
        ("app %k", ("app", "/x/files.desktop")),
    ],
)
def test_exec_lines(line: str, words: tuple[str, ...]) -> None:
    assert entries.exec_words(line, "Files", "/x/files.desktop") == words


@pytest.mark.parametrize(
    "more",
    ["NoDisplay=true", "Hidden=true", "OnlyShowIn=KDE;", "NotShowIn=GNOME;", "TryExec=surely-not-installed"],
)
def test_what_is_not_to_be_shown(more: str) -> None:
    assert entry(more=more, desktops=("GNOME",), installed=lambda name: "not" not in name) is None
    assert entry(desktops=("GNOME",)) is not None


def test_flags_and_program() -> None:
    app = entry("env A=1 /usr/bin/thing --x", "Terminal=true\nDBusActivatable=true\nStartupWMClass=Thing\nPath=/tmp")
    assert app is not None
    assert (app.terminal, app.dbus, app.wm_class, app.cwd, app.program) == (True, True, "Thing", "/tmp", "thing")
    flatpak = entry("/usr/bin/flatpak run --branch=stable --command=run org.x.App %U")
    assert flatpak is not None
    assert flatpak.program == "org.x.App"


def test_a_users_entry_hides_the_systems(tmp_path: Path) -> None:
    system, own = tmp_path / "system", tmp_path / "own"
    for folder in (system / "applications/kde", own / "applications"):
        folder.mkdir(parents=True)
    (system / "applications/a.desktop").write_text(ENTRY.format(exec="sh", more=""))
    (system / "applications/kde/b.desktop").write_text(ENTRY.format(exec="sh", more=""))
    (system / "applications/broken.desktop").write_bytes(b"\xff\xfe\x00 not an entry")
    (own / "applications/a.desktop").write_text(ENTRY.format(exec="sh", more="Hidden=true"))
    env = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(own), "XDG_DATA_DIRS": str(system), "PATH": os.environ["PATH"]}
    assert [app.id for app in entries.read_entries(env)] == ["kde-b"]


def test_listing_is_read_again_only_after_a_change(tmp_path: Path) -> None:
    folder = tmp_path / "share/applications"
    folder.mkdir(parents=True)
    env = {
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "share"),
        "XDG_DATA_DIRS": str(tmp_path / "none"),
        "PATH": "",
    }
    reads: list[int] = []
    apps = Applications(
        env=env, read=lambda: (reads.append(1), entries.read_entries({**env, "PATH": os.environ["PATH"]}))[1]
    )
    assert apps.all() == ()
    assert apps.all() == ()
    assert len(reads) == 1
    (folder / "files.desktop").write_text(ENTRY.format(exec="sh", more=""))
    os.utime(folder, ns=(time.time_ns(), time.time_ns() + 1_000_000))
    assert apps.names() == ("Files",)
    assert apps.resolve("the files app").kind == "found"


def test_mime_defaults_users_choice_first(tmp_path: Path) -> None:
    config, system = tmp_path / "config", tmp_path / "etc"
    config.mkdir()
    system.mkdir()
    (config / "mimeapps.list").write_text(
        "[Added Associations]\ntext/plain=no.desktop;\n[Default Applications]\ntext/plain=kate.desktop;vim.desktop;\n"
    )
    (system / "gnome-mimeapps.list").write_text("[Default Applications]\ntext/plain=gedit.desktop\n")
    env = {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(config),
        "XDG_CONFIG_DIRS": str(system),
        "XDG_CURRENT_DESKTOP": "GNOME",
        "XDG_DATA_DIRS": str(tmp_path / "none"),
    }
    assert entries.default_ids(env, "text/plain") == ("kate", "vim", "gedit")


def test_which_browser(installed: tuple[Application, ...], tmp_path: Path) -> None:
    """The MIME default, then $BROWSER, then the only one there is, then any."""
    for name in ("chromium", "odd-browser"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    env = {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
        "XDG_DATA_DIRS": str(tmp_path),
        "PATH": str(tmp_path),
    }
    browsers = tuple(app for app in installed if "WebBrowser" in app.categories)

    def browser(apps: tuple[Application, ...], **more: str) -> str:
        found = Applications(env={**env, **more}, read=lambda: apps).browser()
        return found.id if found else ""

    assert browser(()) == ""
    assert browser(browsers[1:2]) == "chromium"
    assert browser(browsers) in {app.id for app in browsers}
    assert browser(browsers, BROWSER="nothing:chromium %s") == "chromium"
    assert browser(browsers, BROWSER="odd-browser") == "odd-browser"
    (tmp_path / "mimeapps.list").write_text(
        "[Default Applications]\nx-scheme-handler/https=org.gnome.Epiphany.desktop\n"
    )
    assert browser(browsers, BROWSER="odd-browser") == "org.gnome.Epiphany"


# --- starting --------------------------------------------------------------------------------------------------------


def wait(condition: object, seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():  # type: ignore[operator]
            return True
        time.sleep(0.01)
    return False


def test_a_start_is_detached_and_leaves_no_zombie(tmp_path: Path) -> None:
    out = tmp_path / "out"
    script = f'echo "$PWD $(ps -o sid= -p $$) $$ $(ls /proc/$$/fd | tr "\\n" ",")" > {out}.part; mv {out}.part {out}'
    held = (tmp_path / "secret").open("w")
    try:
        started = Launcher({**os.environ, "HOME": str(tmp_path)}).run(("sh", "-c", script))
        assert wait(out.exists)
    finally:
        held.close()
    where, session, pid, files = out.read_text().split()
    assert where == str(tmp_path)
    assert session == pid == str(started.pid)
    assert set(files.strip(",").split(",")) <= {"0", "1", "2", "3", "10", "255"}
    assert wait(lambda: not Path(f"/proc/{started.pid}").exists())
    assert started.exit_code == 0


def test_a_child_of_a_start_is_known_by_its_session(tmp_path: Path) -> None:
    out = tmp_path / "pid"
    started = Launcher(os.environ).run(("sh", "-c", f"sleep 30 & echo $! > {out}.part; mv {out}.part {out}"))
    assert wait(out.exists)
    child = int(out.read_text())
    try:
        assert wait(lambda: started.exit_code == 0)  # its parent is gone
        assert is_from(child, started.pid)
        assert not is_from(os.getpid(), started.pid)
        assert not is_from(0, started.pid)
    finally:
        os.kill(child, 15)


def test_a_missing_program_is_one_sentence() -> None:
    with pytest.raises(ToolError, match=r"^Ghost could not be started: No such file or directory; check"):
        Launcher().start(Application(id="ghost", name="Ghost", command=("/no/such/program",)))


def test_a_terminal_program_gets_a_terminal(tmp_path: Path) -> None:
    terminal = tmp_path / "konsole"
    terminal.write_text("#!/bin/sh\n")
    terminal.chmod(0o755)
    app = Application(id="htop", name="Htop", command=("htop",), terminal=True)
    assert Launcher({"PATH": str(tmp_path)}).command(app) == ("konsole", "-e", "htop")
    with pytest.raises(ToolError, match="none is installed"):
        Launcher({"PATH": ""}).command(app)


def test_dbus_first_and_exec_when_nobody_answers(tmp_path: Path) -> None:
    asked: list[str] = []
    out = tmp_path / "ran"
    app = Application(id="org.x.App", name="App", command=("touch", str(out)), dbus=True)
    env = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}
    answering = Launcher(env, activate=lambda ident, _: bool(asked.append(ident)) or True)
    assert answering.start(app).how == "D-Bus"
    assert asked == ["org.x.App"]
    assert Launcher(env).start(app).how == "its command"  # the real call; there is no such bus
    assert wait(out.exists)
    no_bus = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    with pytest.raises(ToolError, match="no session bus"):
        Launcher(no_bus).start(Application(id="org.x.App", name="App", dbus=True))


def test_shown_is_quoted() -> None:
    assert shown(("my app", "--x", "a;b")) == "'my app' --x 'a;b'"


# --- windows of an application ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("app", "wm_class", "ours"),
    [
        (Application(id="org.xfce.mousepad", name="Mousepad", command=("mousepad",)), "Mousepad", True),
        (Application(id="debian-xterm", name="XTerm", command=("xterm",), wm_class="XTerm"), "XTerm", True),
        (Application(id="debian-xterm", name="XTerm", command=("xterm",), wm_class="XTerm"), "UXTerm", False),
        (Application(id="chromium", name="Chromium Web Browser", command=("/usr/bin/chromium",)), "Chromium", True),
        (Application(id="org.gnome.Nautilus", name="Files", command=("nautilus",)), "org.gnome.Nautilus", True),
        (Application(id="a", name="Web", command=("epiphany",)), "Webex", False),
        (Application(id="a", name="Web", command=("epiphany",)), "", False),
    ],
)
def test_windows_by_class(app: Application, wm_class: str, ours: bool) -> None:
    assert belongs(WindowRef(id=1, app=wm_class), app) is ours


# --- Windows and macOS, by recorded answers --------------------------------------------------------------------------


def test_windows_start_menu_and_start_apps_are_merged(tmp_path: Path) -> None:
    menu = others.start_menu({"APPDATA": str(tmp_path), "PROGRAMDATA": str(tmp_path / "all")})[0]
    menu.mkdir(parents=True)
    for name in ("Notepad++", "Uninstall Notepad++", "Calculator"):
        (menu / f"{name}.lnk").write_bytes(b"")
    answer = json.dumps(
        [{"Name": "Calculator", "AppID": "Microsoft.WindowsCalculator_8wekyb3d8bbwe!App"}, {"Name": "", "AppID": "x"}]
    )
    commands: list[list[str]] = []
    found = others.windows_applications(
        lambda command: (commands.append(command), answer)[1], {"APPDATA": str(tmp_path), "PROGRAMDATA": ""}
    )
    assert commands == [others.START_APPS]
    assert sorted(app.name for app in found) == ["Calculator", "Notepad++"]
    assert resolve("calculator", found).app.command == (
        "explorer.exe",
        r"shell:AppsFolder\Microsoft.WindowsCalculator_8wekyb3d8bbwe!App",
    )  # type: ignore[union-attr]
    assert others.parse_start_apps("not json") == ()
    assert len(others.parse_start_apps('{"Name": "Mail", "AppID": "m"}')) == 1


def test_mac_bundles(tmp_path: Path) -> None:
    bundle = tmp_path / "Utilities/Terminal.app/Contents"
    bundle.mkdir(parents=True)
    (bundle / "Info.plist").write_bytes(
        plistlib.dumps({"CFBundleName": "Terminal", "CFBundleIdentifier": "com.apple.Terminal"})
    )
    (tmp_path / "Odd.app/Contents").mkdir(parents=True)
    (tmp_path / "Odd.app/Contents/Info.plist").write_bytes(b"broken")
    found = others.mac_applications({}, (tmp_path,))
    assert {app.name: app.id for app in found} == {"Terminal": "com.apple.Terminal", "Odd": "Odd"}
    assert resolve("terminal", found).app.command[:2] == ("open", "-a")  # type: ignore[union-attr]
