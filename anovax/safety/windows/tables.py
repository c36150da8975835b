"""What is known about Windows programs: names, patterns of their arguments, and what these mean."""

from __future__ import annotations

from anovax.safety.normalise import words
from anovax.safety.patterns import then

# Programs that ship with Windows and are known for running, loading or fetching other things, or for changing the
# system
RISKY = words(
    """vssadmin wbadmin bcdedit bootcfg bootrec diskshadow diskpart fsutil cipher wevtutil schtasks bitsadmin certutil
    certreq certoc mshta rundll32 regsvr32 regsvcs regasm installutil msbuild cmstp odbcconf msiexec wscript cscript
    hh pcwrun pcalua forfiles mavinject presentationhost ieexec extrac32 makecab esentutl print-spool xwizard
    syncappvpublishingserver infdefaultinstall msdt msconfig mofcomp netsh takeown icacls cacls xcacls auditpol
    sdelete fltmc sc reg regedit regini secedit gpupdate gpresult psexec psexec64 paexec wmic wsl-install net1
    nltest dsquery dsget csvde ldifde setspn ntdsutil cmdkey vaultcmd tscon rwinsta logoff taskkill tskill pskill
    psservice pssuspend sdbinst desktopimgdownldr expand-archive-lol replace-lol runas at-lol bitsadmin-lol reagentc
    manage-bde dism sfc pkgmgr pnputil driverquery-off devcon wusa ocsetup powercfg shutdown psshutdown unlodctr
    lodctr typeperf-off wecutil winrm winrs dnscmd djoin klist ksetup cmdl32 colorcpl atbroker appvlp bginfo cdb csi
    dnx dxcap fsi ilasm jsc mftrace msxsl ntsd rcsi runexehelper scriptrunner squirrel te tracker update-lol
    vsjitdebugger vbc csc wfc winword-lol wsreset stordiag finger-lol gpscript imewdbld ie4uinit mpcmdrun
    offlinescannershell onedrivestandaloneupdater pnputil printui provlaunch rasautou register-cimprovider rpcping
    settingsynchost shell32 shdocvw setupapi advpack zipfldr url ieframe pubprn slmgr manage-bde cl_invocation
    cl_mutexverifiers utilityfunctions unregmp2 verclsid wab workfolders wuauclt dfsvc eventvwr fodhelper
    computerdefaults sdclt slui dumpcap pktmon procdump procdump64 rdrleakdiag createdump comsvcs sqldumper adplus
    dump64 ttdinject tttracer winpmem handle-lol vaultcli chkdsk-f convert-fs format.com recover subinacl net-user
    attrib-hide assoc-set ftype-set mountvol subst-x label-x compact-x cacls rmtshare dsmod dsadd dsrm dsmove ktpass
    nbtstat-x gpfixup repadmin wpeutil tpmtool bdehdcfg systeminfo-off mklink-x appcmd iisreset aspnet_regiis ftp-s
    tftp telnet ssh-x bitlocker choco scoop winget"""
)
ALIASES = {
    "iwr": "invoke-webrequest", "irm": "invoke-restmethod", "iex": "invoke-expression", "icm": "invoke-command",
    "spps": "stop-process", "spsv": "stop-service", "clc": "clear-content",
    "rp": "remove-itemproperty", "sp": "set-itemproperty", "rwmi": "remove-wmiobject", "iwmi": "invoke-wmimethod",
    "swmi": "set-wmiinstance", "saps": "start-process", "rni": "rename-item",
    "mi": "move-item", "cli": "clear-item", "clp": "clear-itemproperty", "clhy": "clear-history",
    "ipmo": "import-module", "ii": "invoke-item", "nal": "new-alias", "sal": "set-alias", "sajb": "start-job",
    "rjb": "remove-job", "rdr": "remove-psdrive", "rmo": "remove-module", "etsn": "enter-pssession",
    "nsn": "new-pssession", "sasv": "start-service",
}  # fmt: skip

# (name, pattern of the rest, decision, rule, reason): the first that fits
TABLE: tuple[tuple[str, str, str, str, str], ...] = (
    (
        "vssadmin|wbadmin|wmic|diskshadow",
        r"delete|shadowcopy|resize shadowstorage",
        "refuse",
        "backups",
        "it would delete the backups",
    ),
    (
        "wmic",
        (
            r"process call create|product .*uninstall|/node:|delete|call|/format:|useraccount|create|set\b|where "
            r".*terminate"
        ),
        "ask",
        "system",
        "it runs or changes something on this computer",
    ),
    ("wmic", r"^(os|cpu|bios|memorychip|diskdrive|logicaldisk|csproduct|baseboard) get\b", "approve", "", ""),
    ("cipher", r"/w|/e\b", "refuse", "destroy", "it would overwrite or lock files for good"),
    ("format", r"[a-z]:(\s|/|\\|$)|/fs|/q\b|/y\b", "refuse", "destroy", "it would erase a disk"),
    ("convert", r"[a-z]:\s*/fs", "ask", "disk", "it changes a disk"),
    (
        "bcdedit",
        r"/set|/delete|/import|/create|recoveryenabled|bootstatuspolicy",
        "refuse",
        "recovery",
        "it would stop the computer from being repaired",
    ),
    ("wevtutil", r"^(cl|clear-log|sl)\b", "refuse", "traces", "it would delete the event logs"),
    ("fsutil", r"deletejournal|setzerodata|createnew|behavior set", "refuse", "traces", "it would delete file records"),
    (
        "fsutil|powercfg|gpresult|bcdedit|wevtutil|manage-bde|auditpol|schtasks|driverquery|sfc",
        (
            r"^(/?(query|enum|l|list|el|gl|qe|get|status|batteryreport|devicequery|verifyonly|a|aliases|fsinfo|"
            r"volume|/r)\b|-status|/get|/query|/enum)"
        ),
        "notice",
        "system",
        "it shows a system setting",
    ),
    ("reg", r"^query\b(?!.*(passw|sam\b|security|lsa|putty|vnc|winlogon|snmp|defaultuser))", "approve", "", ""),
    ("reg", r"^(delete|unload|restore)", "refuse", "registry", "it would delete parts of the registry"),
    (
        "netsh",
        (
            r"^(wlan show (profiles?|interfaces|networks)$|interface (ip )?show|int(erface)? show|advfirewall "
            r"show)"
        ),
        "approve",
        "",
        "",
    ),
    (
        "netsh",
        then("firewall", "off|disable|reset|delete"),
        "refuse",
        "firewall",
        "it would take down the firewall",
    ),
    ("sc", r"^(query|queryex|qc|getdisplayname|qdescription)\b", "approve", "", ""),
    (
        "sc",
        r"^(\\\\\S+ )?(stop|delete|config|create|failure|start|sdset|pause|control|triggerinfo)\b",
        "ask",
        "services",
        "it changes what the system runs",
    ),
    ("icacls|cacls", r"^\S+$", "approve", "", ""),
    ("chkdsk", r"/[frxb]\b", "ask", "disk", "it changes a disk"),
    ("sysmon|sysmon64", r"[-/]u\b", "refuse", "protection", "it would switch off the protection"),
    ("logman", r"^(stop|delete|update)\b", "ask", "traces", "it stops the records"),
    ("explorer", r"\.(exe|bat|cmd|com|scr|lnk)\b", "ask", "run", "it starts a program"),
    ("xcopy|robocopy|copy|copy-item|move", r"\\\\[\w.-]+\\\S", "ask", "send", "it copies files to another computer"),
    ("rundll32", r"user32\.dll,\s*lockworkstation", "notice", "lock", "it locks the screen"),
    (
        "rundll32",
        r"comsvcs|minidump|javascript|vbscript|https?:|lsass|scrobj|mshtml|runhtmlapplication",
        "refuse",
        "lolbin",
        "it would run hidden code or steal passwords",
    ),
    (
        "mshta|regsvr32",
        r"https?:|javascript|vbscript|script|/i:|\.sct|\.hta",
        "refuse",
        "lolbin",
        "it would run code from elsewhere",
    ),
    (
        "certutil",
        r"urlcache|decode|encode|addstore|-f\b|verifyctl|https?:|exportpfx",
        "refuse",
        "lolbin",
        "it would fetch or unpack hidden code",
    ),
    ("certutil", r"-hashfile", "approve", "", ""),
    (
        "bitsadmin",
        r"/transfer|/create|/addfile|/setnotify|/resume|/complete",
        "ask",
        "download",
        "it downloads in the background",
    ),
    ("shutdown", r"^[/-]a\b", "approve", "", ""),
    ("shutdown|psshutdown", r"^[/-]\w|^(now|\+\d)", "ask", "power", "it shuts down or restarts the computer"),
)
WITH_ARGUMENTS: tuple[tuple[str, str, str, str, str], ...] = (
    ("net|net1", (r"^(user|users|localgroup|group|accounts|stop|start|pause|continue|share|use|session|file|config|"
        r"computer|name|send)\b(?=.*)"), "ask", "users", "it shows or changes accounts, shares or services"),
    ("net|net1", r"^(view|time|statistics|help)", "approve", "", ""),
    ("at", r"^(\\\\\S+ )?\d{1,2}:\d\d\s", "ask", "schedule", "it sets a command that runs later by itself"),
    ("attrib", r"[+-][hsra]\b", "ask", "hide", "it hides files or changes their protection"),
    ("mklink", r"/[jhd]\b|[\\:]", "ask", "links", "it makes one path stand for another"),
    ("assoc|ftype", r"=", "ask", "settings", "it changes which program opens files"),
    ("subst", r"[a-z]:", "ask", "links", "it makes one path stand for another"),
    ("diskpart", r"^$", "ask", "disk", "it changes disks"),
    ("doskey", r"=", "ask", "alias", "it gives a command another meaning"),
    ("invoke-item", r"\.(exe|bat|cmd|ps1|vbs|js|scr|msi|lnk|hta|com)\b", "ask", "run", "it starts a program"),
    ("label|recover|compact", r"[a-z]:|/", "ask", "disk", "it changes a disk"),
    ("expand|replace|print", r"/|\\", "ask", "overwrite", "it may overwrite files"),
    ("logoff", r"^$|^\d+$|/", "ask", "power", "it ends the session"),
    ("set", r"^(path|comspec|pathext|prompt|psmodulepath|cor_\w+|__compat_layer)=", "ask", "environment",
    "it changes what every later command does"),
    ("setx", r".", "ask", "environment", "it changes what every later command does"),
    ("ipconfig", r"/(release|renew|registerdns|flushdns|setclassid)", "ask", "network", "it changes the network"),
    ("route", r"\b(add|delete|change|-f)\b", "ask", "network", "it changes the network"),
    ("arp", r"-[sd]\b", "ask", "network", "it changes the network"),
    ("findstr|find|select-string|sls", r".*", "secrets", "secrets", "it looks for passwords and keys in files"),
    ("dir|ls|gci|get-childitem", r"(/s|-r(ecurse)?\b).*", "secrets", "secrets",
    "it looks for passwords and keys in files"),
    ("whoami", r"/(priv|all|groups)", "notice", "system", "it shows your rights"),
    ("move|ren|rename|mv|move-item|mi|rni|rename-item",
    r"(?i)^\W*(c:\\users(\\\w+)?|%userprofile%|\$home|\$env:userprofile|~)[\\/]?[\"']?(\s|$)", "ask", "overwrite",
    "it takes a whole home away"),
    ("compress-archive|expand-archive", r"(?i)-f(o\w*)?\b|c:\\|\$home|\$env|%\w+%|~", "ask", "overwrite",
    "it packs a whole home or replaces files"),
    ("copy|xcopy|robocopy|move|ren|rename|cp|mv|copy-item|move-item|mi|cpi|rni|rename-item",
    r"(?i)/mir|/purge|/move|\\system32|c:\\windows|\\startup|\\\\\w+\\\w+\$|\.exe\s.*\.(exe|scr)|con\s", "ask",
    "overwrite", "it deletes, replaces or plants files"),
    (("copy|xcopy|robocopy|move|ren|rename|copy-item|move-item|rename-item|set-content|out-file|"
        "add-content|new-item|tee-object"), r"[\\.:]", "notice", "overwrite", "it may overwrite a file"),
    ("kill|stop-process|spps|taskkill|tskill", r"^(?!-[l0]\b).*(-|/|\$)", "ask", "processes",
    "it ends running programs"),
    ("invoke-webrequest|invoke-restmethod|iwr|irm",
    r"-outfile|-o\b|-method (post|put)|-body|-infile|\.(exe|ps1|dll|bat|msi|vbs|zip)\b|\||iex|\$", "ask", "download",
    "it downloads a program or sends data"),
    ("invoke-webrequest|invoke-restmethod|iwr|irm", r"https?://", "notice", "download", "it fetches a page"),
    ("control|explorer|start",
    (r"javascript:|vbscript:|\.cpl\b.*,|(?<!\S)(?!(?:appwiz|ncpa|desk|main|mmsys|inetcpl|sysdm|timedate|firewall|powercfg|"
        r"intl|joy|hdwwiz|wscui|bthprops|telephon|access)\.cpl)\S+\.cpl\b|(?<![\w\\])\\\\[^\s\\]\S*\.(exe|cpl|dll|lnk)|https?://\S+\.(exe|hta|js|vbs)|"
        r"shell:startup|ms-\w+:\S*(cmd|http)|search-ms:|\.(hta|vbs|js|scr|ps1|bat|cmd)\b"), "ask", "lolbin",
        "it runs code from elsewhere"),
    ("curl|wget", r"\.(exe|ps1|dll|bat|msi|vbs)\b|-d\b|-t\b|--upload", "ask", "download",
    "it downloads a program or sends data"),
    (("get-clipboard|gcb|get-credential|get-wmiobject|gwmi|get-ciminstance|gcim|get-aduser|get-addomain|"
        "get-adcomputer|get-adgroupmember|get-localuser|get-netuser|get-gpppassword|get-history|"
        "get-itempropertyvalue|get-process"),
     (r"(?i)lsass|password|credential|antivirus|securitycenter|shadowcopy|-computername|-filter|sam\b|"
         r"enabled|-server|\*$|win32_(useraccount|shadowcopy|process)\b.*(delete|create|terminate)"), "ask",
         "secrets", "it reads accounts, secrets or protection"),
    ("get-clipboard|gcb|get-credential|get-gpppassword|get-adcomputer|get-aduser|get-addomain|get-netuser", r".*",
    "ask", "secrets", "it reads accounts or secrets"),
)  # fmt: skip
JUDGED = words(
    """invoke-item invoke-webrequest invoke-restmethod copy-item move-item rename-item set-content out-file add-content
    new-item"""
)
ANYWHERE: tuple[tuple[str, str, str, str], ...] = (
    (r"downloadstring|downloadfile|downloaddata|net\.webclient|start-bitstransfer|"
    + then(r"webrequest|(?:iwr|irm|curl|wget)\b", r"\|\s*(?:iex|invoke-expression)") + "|"
    + then(r"(?:iex|invoke-expression)\W", "iwr|irm|http"), "refuse", "download_run",
        "it would run a program from the internet that nobody has looked at"),
    ((r"\[(system\.)?(net\.sockets|reflection|runtime\.interopservices|convert\]::frombase64|"
        r"io\.file\]::(write|delete|copy|move|readallbytes)|diagnostics\.process|management\.automation|"
        r"environment\]::set|text\.encoding.*frombase64|appdomain|activator|gc\]::)|frombase64string|"
        r"virtualalloc|getprocaddress|createthread|amsi(utils|initfailed|scanbuffer)|tcpclient|"
        r"\[ref\]\.assembly"), "refuse", "code", "it would run hidden code"),
    ((r"add-type\b|new-object\s+-?\w*\s*(net|system|io|wscript|shell|scripting|excel|word|outlook|mmc20|"
        r"microsoft|internetexplorer|schedule)|getobject\(|createobject\(|activexobject|wscript\.shell|"
        r"scriptlet"), "ask", "code", "it runs code through another program"),
    (r"lsass|sekurlsa|mimikatz|ntds\.dit|\bminidump\b|comsvcs|gpp-?password|kerberoast|dcsync", "refuse", "secrets",
    "it would steal passwords"),
    (r"win32_shadowcopy|delete shadows|shadowcopy delete|disable-computerrestore|systemrestore.*disable", "refuse",
    "backups", "it would delete the backups"),
    ((r"set-mppreference|add-mppreference|disablerealtimemonitoring|disableantispyware|"
        r"uninstall-windowsfeature.*defender|remove-mppreference|disableioavprotection|tamperprotection"), "refuse",
        "protection", "it would switch off the protection"),
    ((r"format-volume|clear-disk|initialize-disk|remove-partition|\bdiskpart\b.*(/s|clean)|clean\s+all|"
        r"\\\\\.\\physicaldrive"), "refuse", "destroy", "it would erase a disk"),
    (r"stop-computer|restart-computer|exitwindowsex|initiatesystemshutdown", "ask", "power",
    "it shuts down or restarts the computer"),
    ((r"clear-eventlog|remove-eventlog|limit-eventlog|clear-history|set-psreadlineoption\b.*(savenothing|"
        r"historysave)|consolehost_history"), "ask", "traces", "it deletes records"),
    (then(r"(?:type|more|cat|gc|get-content)\s", r"unattend|sysprep|groups\.xml|\.kdbx|\\config\\sam")
    + r"|\bkey\s*=\s*clear", "ask", "secrets", "it reads passwords"),
    ((r"\|\s*(remove-item|ri|del|rm)\b|\|\s*(foreach-object|foreach|%)\s*\{?\s*(remove-item|del(ete)?|ri|rm|kill|stop)\b|"
        r"\|\s*(stop-process|spps|kill|stop-service|spsv|disable-\w+|remove-\w+)\b"), "ask", "delete",
        "it deletes or stops whatever it finds"),
    (r"\.delete\(\)|\.terminate\(\)|\.kill\(\)|\.invokemethod\(|\.create\(\s*['\"]", "ask", "system",
    "it deletes or stops whatever it finds"),
    (then(r"while\s*\(\s*(?:1|\$true)|for\s+/l\s+%+\w\s+in\s*\(\s*\d+\s*,\s*0\s*,|for\s*\(\s*;\s*;", r"\bstart\b"),
    "refuse", "fork_bomb", "it starts a program again and again and stops the computer"),
    (then(r"(?:start-process|saps|start)\b", r"-verb\s+runas"), "ask", "elevate",
    "it runs with an administrator's rights"),
    (r"\bcall\s+%\w+%|(?m:^|[&|(])\s*@?%\w+%(?:%|\s|$)", "ask", "assembled",
    "which command runs is put together at run time"),
    (r"\|\s*(?:cmd|powershell|pwsh|diskpart)(?:\.exe)?(?:\s+-\w*)*\s*(?m:$|[;&|])", "ask", "assembled",
    "it runs a text as commands"),
    ((r"(type|copy|cat|gc)\s+(/\w\s+)?nul\s*(>|\s\S)|\b(set-content|sc)\s+\S+\s+(''|\"\"|\$null)\s*$|\bmove\s+\S+\s+nul\b|"
    r"(?m:^|[;&|(])\s*(?:echo[.:/(]|''|\"\"|\$null)\s*>\s*\w"), "ask", "overwrite",
    "it empties a file"),
    (r"%0\s*\|\s*%0|:\w+\s*&?\s*start\b.*goto", "refuse", "fork_bomb",
    "it starts itself again and again and stops the computer"),
)  # fmt: skip
