"""Interpreters and editors: code given on the command line, piped in, or in a script."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from anovax.safety import paths
from anovax.safety.finding import Finding, ask, notice, refuse, strictest
from anovax.safety.normalise import words
from anovax.safety.patterns import then
from anovax.safety.posix.shells import DOWNLOADERS, SHELLS, is_temporary
from anovax.safety.posix.words import Command, Word

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

Rule = Callable[[Command, "Run"], "Finding | None"]
# Tools whose only use is to attack, to steal passwords, or to take a computer's time: stems of program or script names
OFFENSIVE = words(
    """lazagne mimikatz mimipenguin mimidrv linpeas winpeas linenum lse linux-exploit-suggester les pspy pspy64
    metasploit msfconsole msfvenom msfdb meterpreter hydra medusa ncrack john hashcat aircrack-ng airmon-ng
    aireplay-ng airodump-ng wifite reaver responder bloodhound sharphound rubeus crackmapexec cme netexec nxc
    evil-winrm psexec psexec.py wmiexec.py smbexec.py secretsdump secretsdump.py getuserspns.py getnpusers.py
    kerbrute impacket-secretsdump impacket-psexec procdump nanodump pypykatz dumpert safetykatz seatbelt sharpup
    powerup powerview inveigh xmrig minerd cpuminer ethminer cgminer nbminer phoenixminer t-rex merlin sliver empire
    covenant cobaltstrike beacon koadic poshc2 pupy quasar njrat darkcomet slowhttptest goldeneye loic hoic
    torshammer beef setoolkit wifiphisher evilginx gophish trufflehog gitleaks-steal chromepass webbrowserpassview
    nirsoft mailpassview keethief fcrackzip rarcrack pdfcrack crunch cewl patator thc-hydra diamorphine reptile
    azazel jynx father suterusu adore-ng knark phalanx weevely veil shellter unicorn.py donut sgn ysoserial
    gtfoblookup traitor dirtycow dirtypipe pwnkit exploit rootkit keylogger ransomware cryptolocker deepce cdk
    amicontained peirates kubeletmine stegosploit iodined dnscat swaks-spoof ettercap mitmproxy mitmdump arpspoof
    dnsspoof sslstrip"""
)
_DANGER = re.compile(
    r"(?i)do shell script|tell app|"
    r"\b(system|exec\w*|popen\d?|spawn\w*|eval|__import__|importlib|subprocess|pty|socket|urlopen|"
    r"urllib|urlretrieve|requests|httplib|ftplib|smtplib|paramiko|rmtree|unlink|rmdir|"
    r"removedirs|chmod|chown|fork|kill|killpg|fileutils|shutil|child_process|fs|shell_exec|passthru|"
    r"proc_open|pcntl_\w+|file_put_contents|fsockopen|base64|b64decode|b16decode|fromhex|"
    r"marshal|pickle|ctypes|getattr|setattr|globals|locals|builtins|compile|chr|unpack|qx|openuri|"
    r"open-uri|net::http|io\.popen|os\.execute|os\.remove|os\.rename|syscall|dlopen|"
    r"winreg|win32api|pyautogui|pynput|setuid|setgid|getpass|keyring|environ|execsql|loadlibrary|getline|"
    r"unlinksync|rmsync|removesync|deno|tcpsocket|udpsocket|writefile\w*|appendfile\w*|"
    r"createwriteStream|truncate|rename|symlink|delete|remove|copyfile|getruntime|processbuilder|"
    r"activexobject|wscript|fopen|readfile|file_get_contents|include|require|tempfile|mmap|"
    r"threading|multiprocessing|write_(?:text|bytes)|run(?:py|_path|_module)|while\s+true|while\s*\(?1|for\s*\(;;\))\b|`|%x|\bopen\s*\(|\bFile\b|"
    r"\bIO\b|\bDir\b|\bProcess\b|\bKernel\b|\bprocess\.|\\x[0-9a-f]{2}|\[::-1\]|\|\s*\"|print\s*>|"
    r"\bos\.\w+|\b(rm|mv|cp)\s*\("
)
_GRAVE = re.compile(
    r"(?i)rmtree\(\s*['\"](/|~|c:)|/dev/tcp|"
    + "|".join((then("socket", "dup2|subprocess|exec|pty"), then("fork", "while"), then("while", "fork")))
)
_LITERAL = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|`([^`]*)`|%x[({\[]([^)}\]]*)|\bqx[({/]([^)}/]*)")
_SAFE_MODULES = words(
    """math random datetime time json re string statistics decimal fractions itertools functools
            collections calendar locale platform textwrap uuid cmath operator pprint this antigravity sys"""
)
_ACTING = words("modules system popen settrace setprofile compile")
_SAFE_CALLS = words(
    """print len range sum min max abs round sorted int float str list dict set tuple input enumerate zip
            map filter any all divmod pow hex bin oct ord repr type reversed format bool"""
)


def judge_code(text: str, run: Run, python: bool = False) -> Finding | None:
    """What a piece of code would do. Its string literals are judged as commands and as paths too."""
    if python and _harmless_python(text):
        return None
    joined = re.sub(r"['\"]\s*[+.]\s*['\"]", "", text)
    bare = re.sub(r"'[^'`\n]*'|\"[^\"`#$\\\n]*(\\[nt][^\"`#$\\\n]*)*\"", "''", joined)
    if not _DANGER.search(bare):
        return notice("code", "it runs code")
    for match in list(_LITERAL.finditer(joined))[:12]:
        literal = next((group for group in match.groups() if group), "")
        if len(literal) > 3:
            run.script(re.sub(r"\\(['\"\\])", r"\1", literal))
        if paths.is_secret(literal) or (literal.startswith("/") and literal != "/" and paths.is_system(literal)):
            return ask("secrets", f"its code uses {literal}")
    if _GRAVE.search(joined):
        return refuse("code", "its code would destroy files or give away control")
    return (
        ask("code", "its code runs programs, changes files or connects")
        if _DANGER.search(joined)
        else notice("code", "it runs code")
    )


def _harmless_python(text: str) -> bool:
    """Only sums, prints and modules without effects."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and not all(alias.name in _SAFE_MODULES for alias in node.names):
            return False
        if isinstance(node, ast.ImportFrom) and node.module not in _SAFE_MODULES:
            return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in _SAFE_CALLS:
            return False
        if isinstance(node, ast.While | ast.Lambda) or (
            isinstance(node, ast.Attribute | ast.Name) and "__" in ast.dump(node)
        ):
            return False
        if isinstance(node, ast.Attribute) and node.attr in _ACTING:
            return False
    return True


def offensive(command: Command) -> bool:
    """The program, or the script that an interpreter runs, is such a tool."""
    if _stem(command.name) in OFFENSIVE:
        return True
    if command.name not in SHELLS and command.name not in RULES:
        return False
    return any(
        _stem(word.text.replace("\\", "/").rsplit("/", 1)[-1].casefold()) in OFFENSIVE
        for word in command.operands()[:1]
    )


def _stem(name: str) -> str:
    stem, _, suffix = name.rpartition(".")
    return stem if suffix in _SCRIPTS and name not in OFFENSIVE else name


_SCRIPTS = words("py sh exe ps1 rb pl elf bin jar js")


def interpreter(command: Command, run: Run) -> Finding | None:
    """python, perl, ruby, node, php…"""
    python = command.name.startswith(("python", "pypy", "ipython"))
    if command.name in ("perl", "perl5", "ruby") and any(
        re.match(r"-\w*i(\.\w+)?$|-\w*i\w*[pn]?e", text) for text in command.texts[:3]
    ):
        return ask("overwrite", "it changes files in place")
    rest = list(command.args)
    while rest and rest[0].text.startswith("-") and rest[0].text != "-":
        option = rest.pop(0).text
        if python and option == "-m":
            return _module(rest, command, run)
        if re.fullmatch(_VALUED.get(command.name, r"(?!)"), option) and rest:
            rest.pop(0)
        if (command.name, option) in (("ruby", "-run"), ("php", "-S")):
            return ask("share", "it lets other computers read your files")
        inline = _inline(option, command.name)
        if inline is not None:
            code = Word(inline) if inline else (rest.pop(0) if rest else Word(""))
            found = judge_code(code.text, run, python)
            return ask("assembled", "its code is assembled at run time") if code.open or code.hidden else found
    if rest and rest[0].text not in ("-", "/dev/stdin"):
        return _script(rest, command, run)
    return _piped(command, run, python) if command.piped else None


_CODE_LETTERS = {
    "php": "rBRE", "node": "ep", "nodejs": "ep", "bun": "e", "osascript": "e", "lua": "e", "luajit": "e", "r": "e",
    "rscript": "e", "tclsh": "c", "expect": "c", "guile": "c",
}  # fmt: skip


def _inline(option: str, name: str) -> str | None:
    """The code glued to an option, "" when it is the next word, None when the option takes no code."""
    if re.match(_VALUED.get(name, r"(?!)"), option):
        return None
    letters = _CODE_LETTERS.get(name, "c" if name.startswith(("python", "pypy", "ipython")) else "eE")
    if option in ("--eval", "--print", "--run", "--execute", "--command"):
        return ""
    match = re.match(rf"-[a-zA-Z0-9]*?[{letters}](.*)$", option, re.DOTALL) if not option.startswith("--") else None
    return None if match is None else match[1].strip("'\"") if len(match[1]) > 4 else ""


def _module(rest: list[Word], command: Command, run: Run) -> Finding | None:
    name = rest[0].text if rest else ""
    if name in ("pip", "pipx", "uv"):
        run.run(command.inner(tuple(rest), redirects=()))
        return None
    if name.casefold() in ("http.server", "simplehttpserver", "smtpd", "pyftpdlib"):
        return ask("share", "it lets other computers read your files")
    if name in ("timeit", "pdb", "cProfile", "profile", "trace", "code"):
        found = [judge_code(word.text.removeprefix("!"), run, python=True) for word in rest[1:]]
        return strictest([*found, None if name == "timeit" else notice("script", f"it runs the module {name}")])
    harmless = name in ("json.tool", "venv", "this", "calendar", "unittest", "pytest")
    return None if harmless else notice("script", f"it runs the module {name}")


def _script(rest: list[Word], command: Command, run: Run) -> Finding | None:
    word = rest[0]
    if command.name in ("deno", "bun", "go", "cargo", "dotnet") and word.text in ("eval",) and len(rest) > 1:
        return judge_code(rest[1].text, run)
    if word.text in run.files:
        content = run.files[word.text]
        return ask("assembled", "what it runs is known only then") if content is None else _known(content, run)
    if word.open or word.substituted or _is_remote(rest):
        return ask("assembled", "which script it runs is known only then")
    if is_temporary(word.text):
        return ask("script", "it runs a script from a temporary folder")
    if any(name in word.text for name in ("manage.py", "artisan", "console", "rails", "rake")):
        run.run(command.inner(tuple(rest), redirects=()))
        for option, value in pairwise(rest):
            if option.text in ("-c", "--command", "runner"):
                return judge_code(value.text, run, python=True)
    return notice("script", f"it runs the script {word.text}")


def _is_remote(rest: list[Word]) -> bool:
    """``deno run -A https://…``"""
    named = [word.text for word in rest if not word.text.startswith("-")]
    return any("://" in text for text in (named[1:2] if named[:1] == ["run"] else named[:1]))


def _known(content: str, run: Run) -> Finding:
    found = judge_code(content, run)
    return (
        found
        if found is not None and found.decision == "refuse"
        else ask("assembled", "it runs a script that it has just written")
    )


def _piped(command: Command, run: Run, python: bool) -> Finding | None:
    if command.stdin is not None:
        return judge_code(command.stdin, run, python)
    if run.source in DOWNLOADERS:
        return refuse("download_run", "it would run a program from the internet that nobody has looked at")
    return ask("assembled", "what it runs is known only then")


def awk(command: Command, run: Run) -> Finding | None:
    program = " ".join(command.texts)
    if re.search(
        r"(?i)system\s*\(|getline|\|\s*\"|\|&|print\s*[^|]*>\s*\"?/|/inet/|-f\s|--file|-i\s+inplace|\bclose\(", program
    ) or any(w.open for w in command.operands("Fv")[:1]):
        for match in list(_LITERAL.finditer(program))[:8]:
            run.script(next((group for group in match.groups() if group), ""))
        return ask("code", "an awk program can run commands and write files")
    return None


def editor(command: Command, run: Run) -> Finding | None:
    """Editors, pagers and debuggers that can run commands from their options, or look into running programs."""
    text = " ".join(command.texts)
    if command.name in ("gdb", "lldb") and command.has("p", "pid"):
        return ask("spying", "it looks into a running program")
    if command.name in ("nano", "emacsclient"):
        runs = r"(^|\s)(-s|--speller)\b" if command.name == "nano" else r"(^|\s)(-e|--eval)\b"
        return ask("run", "its options run commands") if re.search(runs, text) else None
    if re.search(
        r"(^|\s)(-[a-z]*c\s|-s\b|\+[:!]|--cmd|--eval|-f\s\w|-l\s|--script|-ex\b|-x\b|--load|-e\s*!|-S\b|\+[a-z]+!|\+!)",
        text,
    ) or (command.piped and command.name in ("ed", "ex", "gdb", "bc-run")):
        for match in re.findall(r"!\s*([^'\"]+)", text):
            run.script(match)
        return ask("run", "its options run commands")
    return None


def build(command: Command, run: Run) -> Finding | None:
    """Compilers and loaders with options that run other programs."""
    if command.name == "man" and not re.search(r"-P|--pager|-H|--html|--preprocessor", " ".join(command.texts)):
        return None
    for word in command.args if command.name == "man" else ():
        run.script(word.text)
    return (
        ask("run", "its options run another program")
        if command.name == "man" or re.search(r"-wrapper|--eval|-fplugin|-B\S|-specs", " ".join(command.texts))
        else None
    )


# Options with a value of their own, which is no code
_VALUED = {"ruby": r"-[rICFKW]", "perl": r"-[MmIFx]", "node": r"-r|--require|--import", "osascript": r"-l",
           "php": r"-[dcz]", "lua": r"-l", "python3": r"-[WX]", "python": r"-[WX]"}  # fmt: skip

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(words(
            """python python2 python3 pypy pypy3 ipython perl perl5 ruby jruby irb node nodejs deno bun php lua
            luajit rscript r julia tclsh wish expect guile racket sbcl clisp ghci runghc ocaml groovy scala
            kotlin jshell jjs jrunscript swift elixir erl iex crystal raku nim dart ts-node tsx osascript octave
            matlab go dotnet java cscript gjs qjs"""
        ), interpreter),
    **{f"python{minor}": interpreter for minor in ("2.7", *(f"3.{n}" for n in range(6, 16)))},
    **dict.fromkeys(words(
            """awk gawk mawk nawk busybox-awk"""
        ), awk),
    **dict.fromkeys(words(
            """vi vim nvim gvim view rvim ex ed emacs emacsclient nano gdb lldb mutt irssi dc-run joe micro
            less more most"""
        ), editor),
    **dict.fromkeys(words(
            """gcc g++ cc clang tcc ld as rustc man"""
        ), build),
}  # fmt: skip
