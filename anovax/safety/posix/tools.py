"""Developers' and administrators' tools: version control, containers, clouds, databases, synchronisation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from anovax.safety.finding import Finding, ask, notice
from anovax.safety.normalise import words
from anovax.safety.posix.git import git
from anovax.safety.posix.words import Command

if TYPE_CHECKING:
    from anovax.safety.posix.shell import Run

Rule = Callable[[Command, "Run"], "Finding | None"]
# The words of the many command lines that throw something away or expose it
_THROWING = re.compile(
    r"-*(delete\S*|destroy\S*|terminate\S*|remove\S*|rm|rmi|rb|del|drop\S*|purge\S*|prune|wipe\S*|"
    r"reset\S*|flush\S*|truncate\S*|erase\S*|nuke|kill|stop\S*|shutdown|"
    r"deregister\S*|disable\S*|revoke\S*|cancel\S*|detach\S*|forget|rollback\S*|undo|drain|evict|taint|"
    r"uninstall\S*|unpublish|down|clean|clear\S*|reboot\S*|restart\S*|"
    r"deprovision\S*|suspend\S*|pause|force-unlock|empty\S*|expire\S*|overwrite|replace|poweroff|halt|"
    r"abandon\S*|schedule-\S*|\S+-deletion|release-\S*|disassociate\S*|reimage|redeploy|fresh|"
    r"refresh|downgrade|scale|cordon|patch|edit|apply|update\S*|modify-\S*|put-\S*|set-\S*|create\S*|"
    r"attach-\S*|import\S*|export\S*|get-secret\S*|get-session-token|"
    r"assume-role|print-access-token|print-identity-token|get-password-data|get-login-password|auth-token|"
    r"access-key\S*|archive|transfer\S*|exec|ssh|run|deploy|push|merge)"
)
_GIVES_KEYS = (
    r"--with-decryption|\bsecrets? versions access|get-secret|keyvault secret show|print-\w+-token|\bauth:?\s?token\b"
)
_CLUSTER = words("label annotate set attach proxy port-forward certificate cp debug expose autoscale replace")
_LOOKING = words(
            """list ls ps get describe show status version help logs log info inspect images top events explain
            api-resources config-view plan validate output fmt whoami current-context search history stats port
            diff view graph providers state-list template lint test build check doctor outdated"""
        )  # fmt: skip


def cloud(command: Command, run: Run) -> Finding | None:
    """aws, gcloud, az, kubectl, terraform…: looking is harmless, throwing away or changing asks."""
    if re.search(_GIVES_KEYS, " ".join(command.low)):
        return ask("secrets", "it reads secrets")
    verbs = [part for text in command.low if not text.startswith("-") for part in re.split(r"[:.]", text) if part][:6]
    flags = " ".join(text for text in command.low if text.startswith("-"))
    if re.search(r"--(delete|force|prune|purge|auto-approve|destroy|replicas[= ]0|remove\S*|yes|hard)\b", flags):
        return ask("cloud", "it deletes or changes things for good")
    if (
        command.name in ("kubectl", "oc", "k3s", "k")
        and verbs[:1] == ["get"]
        and any(text.startswith("secret") for text in verbs)
    ):
        return ask("secrets", "it reads secrets")
    if (
        command.name in ("gh", "glab")
        and verbs[:1] in (["issue"], ["pr"], ["mr"])
        and verbs[1:2] in (["create"], ["comment"])
    ):
        return notice("send", "it publishes a text")
    if command.name in ("aws", "heroku") and len(verbs) > 1:
        verbs = verbs[1:]  # the first names a service, such as logs or ps
    if command.name in ("kubectl", "oc", "k") and verbs[:1] and verbs[0] in _CLUSTER:
        return ask("cloud", "it changes or opens the cluster")
    if verbs and verbs[0] in _LOOKING:
        return None
    if any(_THROWING.fullmatch(text) for text in verbs[:4]):
        return ask("cloud", "it deletes or changes things for good")
    return None


def container(command: Command, run: Run) -> Finding | None:
    """docker, podman…"""
    low = list(command.low)
    text = " ".join(low)
    if re.search(
        (
            r"--privileged|--cap-add|--pid[= ]host|--net(work)?[= ]host|--security-opt|(-v|--volume)[= ]?/(:|etc|"
            r"root|home|usr|var|bin|proc|sys)|docker\.sock|--device|source=/,|src=/,|--userns"
        ),
        text,
    ):
        return ask("container", "it gives a container power over this computer")
    for verb in ("exec", "run"):
        if verb in low[:2]:
            _inside(command, run, low.index(verb))
            return (
                ask("container", "it runs something in a container")
                if verb == "exec" or not re.search(r"hello-world", text)
                else None
            )
    verbs = [word for word in low if not word.startswith("-")][:3]
    if any(
        re.fullmatch(
            (
                r"rm|rmi|prune|kill|stop|down|remove|destroy|pause|push|commit|load|import|cp|restart|update|swarm|"
                r"leave|export|save|login|create|start|secret|disconnect|reset|uninstall|"
                r"deploy|delete|undefine|unregister\w*|deletevm"
            ),
            verb,
        )
        for verb in verbs
    ):
        return ask("container", "it stops, changes or deletes containers or their data")
    return None


def _inside(command: Command, run: Run, index: int) -> None:
    rest = list(command.args[index + 1 :])
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if (
            option
            in (
                "-e",
                "-v",
                "-w",
                "-u",
                "-p",
                "--name",
                "--env",
                "--user",
                "--volume",
                "--workdir",
                "-h",
                "--entrypoint",
                "--network",
                "-m",
            )
            and rest
        ):
            rest.pop(0)
    if len(rest) > 1:
        run.run(command.inner(tuple(rest[1:]), redirects=()))


_SQL = re.compile(r"(?is)\b(drop\s+(table|database|schema|user|role|view|index|collection|keyspace|column)|"
    r"truncate(\s+table)?\s+\w|delete\s+from\s+\w|update\s+\w+\s+set\b|"
                  r"alter\s+(table|user|role|database)|grant\s+\w|revoke\s+\w|create\s+(user|role)|"
                      r"shutdown\b|into\s+(out|dump)file|load_file|xp_cmdshell|copy\s+(?:(?!copy\s).)*\bprogram\b|"
                  r"pg_read_file|lo_(import|export)|drop(database|indexes)?\s*\(|\.(drop|remove|"
                      r"deletemany|deleteone|dropdatabase|deleteMany)\s*\(|flushall|flushdb|detach\s+database|"
                      r"vacuum\s+into)")  # fmt: skip


def changes_data(text: str) -> bool:
    """A whole statement, as typed at a database's own prompt."""
    return re.match(
        (
            r"(?is)\s*(drop|truncate|delete\s+from|update\s+\w+\s+set|alter|grant|revoke|db\.|flushall|flushdb|"
            r"use\s+\w+\s*;)"
        ),
        text,
    ) is not None and bool(_SQL.search(text))


def database(command: Command, run: Run) -> Finding | None:
    text = " ".join([*command.texts, command.stdin or ""])
    if _SQL.search(text) or re.search(
        r"\\!|\.shell|\.system|\\copy|\.import|\.restore|--init-command|\bsystem\s+\w+|-o\s*['\"]?\||\\[go]\s*\|", text
    ):
        return ask("database", "it changes or deletes data, or runs a program")
    if command.name.startswith("influx") and "delete" in command.low:
        return ask("database", "it changes or deletes data")
    from_file = (command.name in ("psql", "pgcli", "cockroach") and command.has("f", "file")) or ".read" in text
    if from_file or command.stdin is None or any(r.operator == "<" for r in command.redirects):
        return ask("database", "what it does to the data is known only then")
    return None


def _database_admin(command: Command, run: Run) -> Finding | None:
    return ask("database", "it deletes, stops or replaces a database") if command.args else None


def _redis(command: Command, run: Run) -> Finding | None:
    harmless = words(
        """get mget ping info keys ttl type exists llen lrange hget hgetall smembers dbsize monitor-off scan strlen"""
    )
    verbs = [word.text.casefold() for word in command.operands("hpansut")]
    return ask("database", "it changes or deletes data") if verbs and verbs[0] not in harmless else None


def synchronise(command: Command, run: Run) -> Finding | None:
    """rsync, rclone, scp…"""
    text = " ".join(command.low)
    if command.name == "rsync" and command.has("n", "dry-run"):
        return None
    if command.name in ("scp", "sftp") and (command.has("S") or re.search(r"(?i)(proxy|local)command", text)):
        return ask("run", "its options run another program")
    if re.search(
        r"--(del|delete\S*|remove-source-files|remove-sent-files|inplace|rsh|rsync-path)|(^|\s)-e\s", text
    ) or re.search(r"^(purge|delete\S*|sync|move\S*|cleanup|rmdirs?|bisync|dedupe)\b", text):
        return ask("synchronise", "it deletes or replaces files at the other end")
    if any(re.match(r"[\w.@-]+::?([\w/~.]|$)|rsync://|\w+:/", text) for text in command.texts) or command.name in (
        "sftp",
        "ftp",
        "lftp",
        "tftp",
        "smbclient",
        "rcp",
    ):
        return ask("transfer", "it sends files to another computer or fetches them")
    from_to = command.operands("eBf")
    named = [command.path(word) for word in from_to]
    return _copied(named)


def _copied(named: list[str]) -> Finding | None:
    from anovax.safety.posix.files import written

    return written(named[-1]) if len(named) > 1 else None


_TASKS = re.compile(
    r"(\w+[:.])?(db:(drop|reset|purge|wipe|rollback|truncate_all|seed:replant|schema:load)|migrate:(fresh|"
    r"reset|refresh|rollback)|db:wipe|wipe|flush|reset_db|reset|drop|destroy|nuke|uninstall|distclean|"
    r"mrproper|prune|clean-all|deploy|publish|release|db:migrate:reset|purge|obliterate|delete|unlink|drop-all|"
    r"dropall|downgrade|revert|strip|abandon|--full-refresh)"
)


def project(command: Command, run: Run) -> Finding | None:
    """make, rails, artisan…: their tasks; the ones that throw data away are named for it."""
    if command.name in ("make", "gmake", "just", "ninja"):
        for name, equals, value in (text.partition("=") for text in command.texts):
            run.script(value if equals and " " in value else "")
            if name == "SHELL" or name == "--eval":
                return ask("run", "its options run another program")
        if command.piped and {"-", "/dev/stdin"} & set(command.texts):
            return ask("assembled", "what it runs is known only then")
    if any(_TASKS.fullmatch(text) for text in command.low[:4]) or (
        command.name in ("flyway", "hg", "bzr") and {"clean", "--clean", "-c"} & set(command.low)
    ):
        return ask("project", "it deletes data or publishes")
    return None


def backup(command: Command, run: Run) -> Finding | None:
    verbs = re.search(
        r"(^|\s)(forget|prune|delete|purge|remove\S*|restore|unlock|init|clean|rm|repair|drop|compact)\b",
        " ".join(command.low),
    )
    return ask("backup", "it deletes or replaces backups") if verbs else None


RULES: Mapping[str, Rule] = {
    "git": git, "gh": cloud, "glab": cloud, "hub": cloud, "hg": project, "svn": project,
    **dict.fromkeys(words(
            """docker podman docker-compose podman-compose nerdctl buildah lxc lxc-stop lxc-destroy lxd incus ctr
            crictl vagrant virsh vboxmanage multipass minikube kind colima limactl runc"""
        ), container),
    **dict.fromkeys(words(
            """aws gcloud az gsutil bq doctl heroku fly flyctl kubectl oc k3s helm helmfile terraform tofu
            terragrunt pulumi ansible-playbook cdk sam serverless sls eksctl kops vercel netlify
            firebase wrangler supabase railway render hcloud linode-cli k ibmcloud oci openstack nova consul nomad
            packer salt puppet chef knife argocd flux istioctl gitlab jenkins circleci stripe twilio mongocli
            atlas cf rancher velero s3cmd s5cmd b2 azcopy linode vultr-cli scw exo civo kubectx virtctl talosctl
            etcdctl kafka-topics kafka-topics.sh rabbitmqctl zkcli eb copilot rabbitmqadmin"""
        ), cloud),
    **dict.fromkeys(words(
            """mysql mariadb psql sqlite3 sqlite mongo mongosh sqlcmd osql isql sqlplus cqlsh clickhouse-client
            duckdb usql cockroach influx influx-cli pgcli mycli litecli db2 bcp"""
        ), database),
    **dict.fromkeys(words(
            """dropdb dropuser createuser mysqladmin pg_dropcluster pg_ctl pg_ctlcluster pg_restore mongorestore
            mysqlimport pg_resetwal pg_dump pg_dumpall mysqldump mongodump reindexdb vacuumdb pg_rewind mongod"""
        ), _database_admin),
    "redis-cli": _redis, "keydb-cli": _redis, "valkey-cli": _redis, "memcached-tool": _redis,
    **dict.fromkeys(words(
    """rsync rclone scp sftp ftp lftp tftp smbclient rcp unison pscp psftp duplicity"""
),
    synchronise),
    **dict.fromkeys(words(
            """make rails rake bundle artisan prisma alembic flyway liquibase mix sequelize typeorm knex manage.py
            django-admin gradle gradlew mvn just task ninja drush wp
            bzr jj p4 cvs fossil diesel sqlx dbt goose dbmate phinx skaffold k3d"""
        ), project),
    **dict.fromkeys(words(
    """restic borg borgmatic timeshift snapper duplicati kopia bup rdiff-backup tarsnap btrbk"""
), backup),
}  # fmt: skip
