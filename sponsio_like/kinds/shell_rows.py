"""The rows of commands: which arguments are paths, hosts and packages, and what destroys.

Sources: the manual pages of GNU coreutils, and of each tool named.
"""

from __future__ import annotations

from sponsio_like.kinds.shell_options import (
    Destroys,
    Options,
    Row,
    always,
    among,
    completed,
    first,
    flag,
)


def _rm(said: Options) -> str:
    return "rm -r" if said.has("-r", "-R", "--recursive") else ""


def _recursive(name: str) -> Destroys:
    return lambda said: f"{name} -R" if said.has("-R", "--recursive") else ""


def _dd(said: Options) -> str:
    to = next((each[3:] for each in said.rest if each.startswith("of=")), "")
    return f"dd of={to}" if to and to != "/dev/null" else ""


def _kill(said: Options) -> str:
    return "kill all" if "-1" in said.rest or (said.has("-1") and not said.rest) else ""


def _systemctl(said: Options) -> str:
    stops = ("stop", "disable", "mask", "poweroff", "reboot", "halt", "isolate", "kill")
    return f"systemctl {said.rest[0]}" if said.rest and said.rest[0] in stops else ""


def _crontab(said: Options) -> str:
    return "crontab -r" if said.has("-r") else ""


def _iptables(said: Options) -> str:
    return "iptables -F" if said.has("-F", "--flush", "-X") else ""


_ROWS: dict[str, Row] = {
    **dict.fromkeys(("less", "more", "nl", "tac", "rev", "wc", "file", "stat"), Row("r*")),
    **dict.fromkeys(("ls", "dir", "tree", "du", "readlink", "realpath"), Row("r*")),
    "uniq": Row("rw", "fsw"),
    "xxd": Row("rw", "clgsoR"),
    **dict.fromkeys(("md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum"), Row("r*")),
    **dict.fromkeys(("strings", "od", "hexdump", "base64", "base32", "paste", "comm"), Row("r*")),
    **dict.fromkeys(("diff", "cmp", "fold", "fmt", "column", "zcat", "bzcat"), Row("r*")),
    **dict.fromkeys(("head", "tail"), Row("r*", "nc", ("--lines", "--bytes"))),
    "sort": Row("r*", "koStT", paths={"-o": "w", "--output": "w"}),
    "cut": Row("r*", "dfcb", ("--delimiter", "--fields")),
    "tr": Row("-*"),
    **dict.fromkeys(
        ("grep", "egrep", "fgrep", "zgrep", "rgrep"),
        Row(
            "-r*",
            "efmABCdD",
            ("--include", "--exclude", "--exclude-dir", "--max-count", "--regexp"),
            {"-f": "r", "--file": "r"},
        ),
    ),
    **dict.fromkeys(("rg", "ag", "ack"), Row("-r*", "egtTmABC", ("--glob", "--type"))),
    "jq": Row("-r*", "", ("--arg", "--argjson"), {"-f": "r", "--from-file": "r"}),
    **dict.fromkeys(
        (
            *(
                "join",
                "pr",
                "expand",
                "unexpand",
                "shuf",
                "look",
                "bat",
                "batcat",
                "zless",
                "zmore",
            ),
            *(
                "getfacl",
                "lsattr",
                "objdump",
                "readelf",
                "nm",
                "uuencode",
                "basenc",
                "sum",
                "b2sum",
            ),
            *("tsort", "ptx", "numfmt", "enscript", "lp", "lpr", "view", "ssh-add", "shasum"),
        ),
        Row("r*"),
    ),
    "gdb": Row("r*", "p", ("--ex", "--batch")),
    "cp": Row("r*w", "tS", ("--target-directory",), {"-t": "w", "--target-directory": "w"}),
    "install": Row(
        "r*w",
        "mogt",
        ("--mode", "--owner", "--group", "--target-directory"),
        {"-t": "w", "--target-directory": "w"},
    ),
    "link": Row("rw"),
    "mknod": Row("w-*"),
    "apt-key": Row("-*", paths={"--keyserver": "h"}),
    "cpio": Row("w*", "HCMRIEe", paths={"-D": "w", "--directory": "w", "-O": "w", "-I": "r"}),
    "iptables-save": Row("", paths={"-f": "w", "--file": "w"}),
    "dotnet": Row("-*", "cfr", ("--configuration",), {"-o": "w", "--output": "w"}),
    "rsync": Row(
        "s*c",
        "efTM",
        ("--rsh", "--exclude", "--include", "--files-from", "--rsync-path"),
        destroys=lambda said: (
            "rsync --delete" if any(each.startswith("--del") for each in said.flags) else ""
        ),
    ),
    "scp": Row("s*c", "PioFlSJc"),
    "csplit": Row("r-*", "fbn", paths={"-f": "w"}),
    "7z": Row("-r*", "opw", paths={"-o": "w"}),
    "rclone": Row("-SC"),
    "gsutil": Row("-SC"),
    "ssh-keygen": Row("", "CtbNPmOz", paths={"-f": "e"}),
    "gpg": Row("r*", "orukb", ("--recipient",), {"-o": "w", "--output": "w", "--keyserver": "h"}),
    "objcopy": Row("rw", "IOBjR"),
    "strip": Row("w*", "oK", paths={"-o": "w"}),
    "ffmpeg": Row("r*w"),
    **dict.fromkeys(("convert", "magick", "wkhtmltopdf"), Row("r*w")),
    "mysqldump": Row(
        "", "rhuP", ("--result-file",), {"-r": "w", "--result-file": "w", "-h": "h", "--host": "h"}
    ),
    **dict.fromkeys(
        ("pg_dump", "pg_dumpall"),
        Row("", "fhUpdnt", ("--file",), {"-f": "w", "--file": "w", "-h": "h"}),
    ),
    "mktemp": Row("w", "p", ("--tmpdir",), {"-p": "w", "--tmpdir": "w"}),
    "mount": Row("sw", "tor"),
    "visudo": Row("", "f", paths={"-f": "w"}),
    **dict.fromkeys(("black", "isort", "rustfmt", "dos2unix", "unix2dos"), Row("w*")),
    **dict.fromkeys(
        ("prettier", "gofmt", "clang-format", "autopep8", "yapf", "shfmt", "eslint"),
        Row("r*", "", ("--config", "--parser", "--style")),
    ),
    "yq": Row("-r*"),
    **dict.fromkeys(
        ("pandoc", "iconv"), Row("r*", "oft", ("--output",), {"-o": "w", "--output": "w"})
    ),
    "tcpdump": Row("", "wricBsS", paths={"-w": "w", "-r": "r"}),
    "script": Row("w", "cEOIBT", ("--command",)),
    "ld": Row("r*", "olLmT", paths={"-o": "w"}),
    "rustc": Row("r*", "oLlC", ("--out-dir", "--edition"), {"-o": "w", "--out-dir": "w"}),
    "javac": Row("r*", "d", paths={"-d": "w"}),
    "cmake": Row(
        "-*", "SGD", ("--install",), {"-B": "w", "--install-prefix": "w", "--prefix": "w"}
    ),
    "mv": Row("m*w", "tS", ("--target-directory",), {"-t": "w", "--target-directory": "w"}),
    "ln": Row("r*w", "S", ("--target-directory",), {"-t": "w", "--target-directory": "w"}),
    "sponge": Row("w*"),
    "fallocate": Row("w*", "lo", ("--length", "--offset")),
    "setfattr": Row("w*", "nvx"),
    "ar": Row("-wr*"),
    "as": Row("r*", "I", paths={"-o": "w"}),
    **dict.fromkeys(("cc", "c++"), Row("r*", "IlLDx", paths={"-o": "w"})),
    "age": Row("r*", "riR", paths={"-o": "w", "--output": "w"}),
    "mksquashfs": Row("rw"),
    **dict.fromkeys(("genisoimage", "mkisofs", "xorriso"), Row("r*", "V", paths={"-o": "w"})),
    "lz4": Row("rw"),
    "mmv": Row("mw"),
    "rename": Row("-m*"),
    "tsc": Row("r*", "pt", paths={"--outDir": "w", "--outFile": "w"}),
    "virtualenv": Row("w", "p"),
    "ninja": Row("-*", "jkl", paths={"-C": "w"}),
    "meson": Row("-*", paths={"--destdir": "w", "-C": "w"}),
    "gradle": Row("-*", paths={"-p": "w", "--project-dir": "w"}),
    "mvn": Row("-*", "PD", paths={"-f": "w", "--file": "w"}),
    "ssh-copy-id": Row("h", "ip"),
    "update-alternatives": Row("-*", paths={"--install": "w"}),
    "mkdir": Row("t*", "m", ("--mode",)),
    "mkfifo": Row("w*", "m"),
    "touch": Row("t*", "drt", ("--date", "--reference")),
    "rm": Row("d*", destroys=_rm),
    "rmdir": Row("d*"),
    "unlink": Row("d*"),
    "srm": Row("d*", destroys=always("srm"), depends=False),
    "shred": Row("d*", "ns", ("--iterations", "--size"), destroys=always("shred"), depends=False),
    "wipe": Row("d*", destroys=always("wipe"), depends=False),
    "truncate": Row("w*", "sr", ("--size", "--reference"), destroys=always("truncate")),
    "dd": Row("", destroys=_dd, depends=False),
    "chmod": Row("-t*", destroys=_recursive("chmod")),
    "chown": Row("-t*", destroys=_recursive("chown")),
    "chgrp": Row("-t*", destroys=_recursive("chgrp")),
    "chattr": Row("w*", destroys=_recursive("chattr")),
    "rpm": Row("-*", destroys=flag("rpm -e", "-e", "--erase")),
    "dpkg": Row("-*", destroys=flag("dpkg -r", "-r", "-P", "--remove", "--purge")),
    "pacman": Row("p*", destroys=flag("pacman -R", "-R", "--remove")),
    "setfacl": Row("w*", "mxM", destroys=_recursive("setfacl")),
    "split": Row("rw", "lbnaC"),
    "patch": Row("w*", "pidoB", paths={"-i": "r", "-o": "w", "-d": "w"}),
    "zip": Row("wr*", "xiP"),
    "unzip": Row("r-*", "dxP", paths={"-d": "w"}),
    **dict.fromkeys(("gzip", "bzip2", "xz", "gunzip", "bunzip2", "unxz"), Row("w*")),
    "zstd": Row("e*", "TM", paths={"-o": "w"}),
    **dict.fromkeys(("nano", "emacs", "ed", "pico", "micro"), Row("e*")),
    **dict.fromkeys(
        ("wget", "wget2"),
        Row(
            "h*",
            "UTtQwlARDIX",
            ("--header", "--post-data", "--user-agent", "--method", "--timeout", "--tries"),
            {
                **dict.fromkeys(("-O", "-P", "-o", "-a", "--output-document"), "w"),
                **dict.fromkeys(("--directory-prefix", "--output-file", "--append-output"), "w"),
                **dict.fromkeys(("--save-cookies", "--warc-file", "--hsts-file"), "w"),
                **dict.fromkeys(("--post-file", "--body-file", "--load-cookies"), "r"),
                **dict.fromkeys(("-i", "--input-file", "--config", "-e", "--execute"), "k"),
                **dict.fromkeys(("-B", "--base"), "h"),
            },
        ),
    ),
    "curl": Row(
        "h*",
        "XHdFuAemwCymPQrtYzE",
        (
            *("--request", "--header", "--data", "--form", "--user", "--user-agent", "--max-time"),
            *("--data-binary", "--data-raw", "--data-urlencode", "--connect-timeout", "--retry"),
            *("--json", "--write-out", "--referer", "--range", "--limit-rate"),
            *("--retry-delay", "--interface", "--form-string", "--ciphers", "--cert-type"),
        ),
        {
            **dict.fromkeys(("-o", "--output", "-c", "--cookie-jar", "--output-dir", "-D"), "w"),
            **dict.fromkeys(("--dump-header", "--trace", "--trace-ascii", "--stderr"), "w"),
            **dict.fromkeys(("--libcurl", "--etag-save", "--hsts", "--alt-svc"), "w"),
            **dict.fromkeys(("--config", "-K"), "k"),
            **dict.fromkeys(("-T", "--upload-file", "--cert", "--key"), "r"),
            **dict.fromkeys(("--cacert", "--netrc-file", "--etag-compare", "--capath"), "r"),
            **dict.fromkeys(("-b", "--cookie"), "b"),
            **dict.fromkeys(("--url", "-x", "--proxy", "--preproxy", "--doh-url"), "h"),
            **dict.fromkeys(("--socks4", "--socks4a", "--socks5", "--socks5-hostname"), "h"),
            "--connect-to": "H",
            "--resolve": "H",
        },
    ),
    **dict.fromkeys(
        ("ping", "nc", "ncat", "telnet", "dig", "host", "nslookup"), Row("h*", "cwipt")
    ),
    **dict.fromkeys(
        ("traceroute", "nmap", "whois", "ftp", "tftp", "lftp", "mtr", "ntpdate", "rdesktop"),
        Row("h*", "pPe", paths={"-h": "h"}),
    ),
    "sftp": Row("hw", "PoJlBDFRsS", paths={"-b": "r", "-i": "r", "-J": "h"}),
    **dict.fromkeys(
        ("lynx", "links", "elinks", "w3m", "ab", "wrk", "hey", "axel", "yt-dlp", "youtube-dl"),
        Row("h*", "nctTosduHAm", ("--header", "--format", "--exec"), {"--output": "w"}),
    ),
    "aria2c": Row("h*", "xsjk", paths={"-o": "w", "-d": "w", "--out": "w", "--dir": "w"}),
    **dict.fromkeys(("http", "https", "xh", "httpie"), Row("q*", "ad", paths={"-o": "w"})),
    **dict.fromkeys(
        ("mail", "mailx", "mutt", "sendmail", "finger"), Row("a*", "srcbF", paths={"-a": "r"})
    ),
    "swaks": Row("", "", paths={"--to": "a", "--server": "h", "--attach": "r"}),
    "getent": Row("-u*"),
    "smbclient": Row("h*"),
    "sshfs": Row("uw", "op"),
    **dict.fromkeys(("mount.nfs", "mount.cifs"), Row("uw", "o")),
    **dict.fromkeys(("mosquitto_pub", "mosquitto_sub"), Row("", "tmuPpiqV", (), {"-h": "h"})),
    "grpcurl": Row("h-*", "dH"),
    "restic": Row("-*", destroys=among("restic", "forget|prune|rewrite")),
    "borg": Row("-*", destroys=among("borg", "delete|prune|recreate")),
    **dict.fromkeys(
        ("rails", "rake"),
        Row("-*", destroys=among("rails", r"db:(?:drop|reset|purge|truncate_all|schema:load)\b.*")),
    ),
    **dict.fromkeys(
        ("manage.py", "django-admin"),
        Row("-*", destroys=first("manage.py", "flush", "reset_db")),
    ),
    "redis-cli": Row(
        "",
        "pna",
        ("--user", "--pass"),
        {"-h": "h", "-u": "h", "--rdb": "w"},
        destroys=among("redis-cli", "(?i:flushall|flushdb|shutdown)"),
    ),
    **dict.fromkeys(
        ("mongosh", "mongo"),
        Row("i", "up", ("--eval", "--username", "--password"), {"--host": "h"}),
    ),
    **dict.fromkeys(("mongodump", "mongoexport"), Row("", "dcu", paths={"--out": "w", "-o": "w"})),
    "mysqladmin": Row(
        "-*", "upP", paths={"-h": "h"}, destroys=first("mysqladmin", "drop", "shutdown")
    ),
    "rabbitmqctl": Row(
        "-*", destroys=among("rabbitmqctl", r"(?:delete|purge)_\w+|reset|force_reset")
    ),
    "etcdctl": Row("-*", destroys=first("etcdctl", "del")),
    "vault": Row("-*", destroys=first("vault", "delete")),
    "consul": Row("-*", destroys=among("consul", "delete")),
    **dict.fromkeys(
        ("lvremove", "vgremove", "pvremove"), Row("-*", destroys=always("remove a volume"))
    ),
    **dict.fromkeys(("zfs", "zpool"), Row("-*", destroys=first("zfs", "destroy", "rollback"))),
    "btrfs": Row("-*", destroys=among("btrfs", "delete")),
    "mdadm": Row("-*", destroys=flag("mdadm --zero-superblock", "--zero-superblock", "--stop")),
    "cryptsetup": Row("-*", destroys=among("cryptsetup", "luksErase|erase|luksFormat")),
    "hdparm": Row("-*", destroys=flag("hdparm --security-erase", "--security-erase")),
    "dropdb": Row(destroys=always("dropdb"), depends=False),
    **dict.fromkeys(
        (
            *("mkfs", "mkswap", "wipefs", "fdisk", "sfdisk", "parted", "mke2fs", "blkdiscard"),
            *("sgdisk", "gdisk"),
        ),
        Row("w*", destroys=always("format a disk"), depends=False),
    ),
    **dict.fromkeys(
        ("shutdown", "reboot", "halt", "poweroff", "init", "telinit"),
        Row(destroys=always("stop the machine"), depends=False),
    ),
    **dict.fromkeys(
        ("userdel", "groupdel", "deluser"), Row(destroys=always("delete a user"), depends=False)
    ),
    "passwd": Row(destroys=always("passwd"), depends=False),
    "kill": Row(destroys=_kill, depends=False),
    "killall5": Row(destroys=always("kill all"), depends=False),
    "fuser": Row("r*", destroys=flag("fuser -k", "-k", "--kill")),
    "nft": Row("-*", destroys=first("nft", "flush", "delete")),
    "killall": Row(destroys=always("killall"), depends=False),
    "pkill": Row(destroys=always("pkill"), depends=False),
    "crontab": Row("r", "u", destroys=_crontab),
    "iptables": Row(destroys=_iptables),
    "ufw": Row(destroys=first("ufw", "disable", "reset")),
    "systemctl": Row(destroys=_systemctl),
    "service": Row(destroys=lambda said: "service stop" if "stop" in said.rest else ""),
    "umount": Row("w*"),
    "history": Row(destroys=flag("history -c", "-c")),
}
ROWS = {name: completed(row) for name, row in _ROWS.items()}
"""The rows by the names of commands."""
