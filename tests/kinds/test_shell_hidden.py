"""What a command hides from its tree, and commands that start others: each beside neighbours.

The first table is played in a real bash, whose `rm` only says that it ran: so each row does run it.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import sponsio_like.kinds  # noqa: F401 - declares the kinds
from sponsio_like.values import TEXT_KINDS, UNREADABLE, under

HIDDEN = (
    "r\\\nm x",
    "r\\\n\\\nm x",
    "'r'\\\nm x",
    '"r"\\\nm x',
    "ls;r\\\nm x",
    "e\\\nval 'rm x'",
    "if r\\\nm x; then ls; fi",
    "f() { r\\\nm x; }; f",
    "$(r\\\nm x)",
    "echo $\\\n(rm x)",
    'echo "$\\\n(rm x)"',
    "cat <<E\n$\\\n(rm x)\nE",
    "# a\\\nrm x",
    "a[$(rm x)]=1",
    "a[`rm x`]=1",
    "echo ${a[$(rm x)]}",
    "echo ${a[b[$(rm x)]]}",
    "a=(1); echo ${#a[$(rm x)]}",
    "echo ${x:-${a[$(rm x)]}}",
    "a=b; echo ${a#$(rm x)}",
    "echo ${a:=`rm x`}",
    "echo $((a[$(rm x)]))",
    "declare -a a[$(rm x)]=1",
    "a=(1); unset a[$(rm x)]",
    "a=(1); unset 'a[$(rm x)]'",
    "printf -v 'a[$(rm x)]' x",
    "let 'a[$(rm x)]=1'",
    "[[ 'a[$(rm x)]' -eq 1 ]]",
    "[[ -v 'a[$(rm x)]' ]]",
    "test -v 'a[$(rm x)]'",
    "coproc a { rm x; }; wait",
    "f() { a[$(rm x)]=1; }; f",
)
SAID = (
    "ls \\\n  -l",
    "ls \\\n-l \\\n-a",
    "echo 'r\\\nm x'",
    "cat <<'E'\n$(rm x)\nr\\\nm\nE",
    "f() { a[$(rm x)]=1; }; ls",
    '[ -n "$(ls)" ] && echo a',
    "test -f 'a[0]'",
    'a=(1 2); echo "${a[0]} ${#a[@]}"',
    "printf '%s' '[$(rm x)]'",
    "unset a",
    "npx tsc@5 --noEmit",
    "npm run build",
    "tmux ls",
    "screen -ls",
    "crontab -l",
    "at -l",
    "make -j4 all",
    "make -f Makefile.dev test",
    "rsync -avz -e ssh a h:b",
    "rsync -a --delete-after a b",
    "git config user.name ann",
    "git config --global core.autocrlf input",
    "fd -e py x",
    "rg -n --glob '*.py' x",
    "man ls",
    "less f",
    "nc -z h 80",
    "gdb -batch -ex bt ./a.out",
    "zip -r a.zip b",
    "script out.txt",
    "hyperfine --warmup 3 'ls -l'",
    "conda install numpy",
    "perf report",
    "complete -W 'a b' c",
    "ed -s f",
)
STARTED = (
    "nsenter -t 1 -m rm x",
    "numactl -C 0 rm x",
    "chrt -r 5 rm x",
    "prlimit --nofile=5 rm x",
    "firejail --quiet rm x",
    "bwrap --ro-bind / / rm x",
    "dbus-run-session -- rm x",
    "xvfb-run -a rm x",
    "valgrind --quiet rm x",
    "caffeinate -i rm x",
    "chronic rm x",
    "ls | ifne rm x",
    "unbuffer rm x",
    "rlwrap rm x",
    "systemd-run --user --wait rm x",
    "faketime '2020-01-01' rm x",
    "runuser -u ann -- rm x",
    "sg staff 'rm x'",
    "flock /tmp/l -c 'rm x'",
    "flock -n /tmp/l rm x",
    "script -qec 'rm x' /dev/null",
    "hyperfine -w 1 'rm x'",
    "tmux new -d 'rm x'",
    "tmux send-keys 'rm x' Enter",
    "screen -dmS a rm x",
    "expect -c 'spawn rm x'",
    "gdb -batch -ex '!rm x'",
    "socat - EXEC:'rm x'",
    "nc -e 'rm x' h 1",
    "perf stat -e cycles rm x",
    "perf stat -r 5 rm x",
    "conda run --cwd /x rm x",
    "npx --registry http://a.b rm x",
    "conda run -n a rm x",
    "pdm run rm x",
    "hatch run rm x",
    "tox exec -- rm x",
    "direnv exec . rm x",
    "nix-shell -p a --run 'rm x'",
    "echo 'rm x' | at now",
    "crontab <<< '* * * * * rm x'",
    "make -f - <<< 'all:; rm x'",
    "make SHELL=./x",
    "make --eval='$(shell rm x)'",
    "ls | entr rm x",
    "ls | entr -s 'rm x'",
    "nodemon --exec 'rm x'",
    "fd -x rm",
    "fd . -X rm x",
    "rg --pre rm x",
    "man -P 'rm x' ls",
    "zip a b -T -TT 'rm x'",
    "rsync -e 'rm x' a h:b",
    "rsync -ae 'rm x' a h:b",
    "compgen -C 'rm x'",
    "mapfile -C 'rm x' -c 1 < f",
    "bind -x '\"a\": rm x'",
    "git config alias.x '!rm x'",
    "git config --global core.pager 'rm x'",
    "npm exec -- rm x",
    "npx rm@1 x",
    "less +'!rm x' f",
    "ed <<< '!rm x'",
)


def runs(text: str) -> tuple[object, ...]:
    """What a command runs."""
    facts = TEXT_KINDS["shell"].facts_of(text)
    assert facts is not None
    return facts["runs"]


@pytest.mark.parametrize("text", [*HIDDEN, *STARTED])
def test_what_is_hidden_is_found_or_unknown(text: str) -> None:
    """A prohibition of `rm` refuses each."""
    assert "rm" in runs(text) or UNREADABLE in runs(text)


def test_lines_are_joined_as_bash_joins_them() -> None:
    """Between two letters, and not where the line ends behind a blank, in a quote, or a comment."""
    assert runs("r\\\nm x") == runs("'r'\\\n\\\nm x") == ("rm",)
    assert runs("r \\\nm x") == runs("r\\\n m x") == ("r",)
    assert runs("r\\\\\nm x") == ("r\\", "m")
    assert runs("ls # a\\\nrm x") == ("ls", "rm")


@pytest.mark.parametrize("text", SAID)
def test_what_hides_nothing_is_known(text: str) -> None:
    """Usual commands of the same forms run no `rm`, and nothing in them is unknown."""
    assert "rm" not in runs(text)
    assert UNREADABLE not in runs(text)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("text", HIDDEN)
def test_bash_runs_what_is_hidden(text: str, tmp_path: Path) -> None:
    """The table is no list of guesses."""
    fake = tmp_path / "bin"
    fake.mkdir()
    (fake / "rm").write_text(f"#!/bin/sh\necho ran >> {tmp_path}/ran\n", "utf-8")
    (fake / "rm").chmod(0o755)
    bash = shutil.which("bash") or ""
    path = f"{fake}:/usr/bin:/bin"
    subprocess.run(
        [bash, "-c", text], cwd=tmp_path, env={"PATH": path}, capture_output=True, check=False
    )
    assert (tmp_path / "ran").exists()


WRITTEN = (
    "dd if=a of=/etc/f",
    "install -t /etc a",
    "link a /etc/f",
    "mknod /etc/f p",
    "rsync -av a/ /etc/",
    "scp h:a /etc/f",
    "perl -i -pe s/a/b/ /etc/f",
    "perl -pi -e s/a/b/ /etc/f",
    "gawk -i inplace '{print}' /etc/f",
    "uniq a /etc/f",
    "csplit -f /etc/f a 1",
    "7z x a -o/etc",
    "git init /etc/f",
    "git -C . init /etc/f",
    "git worktree add /etc/f",
    "npm install --prefix /etc a",
    "cargo install --root /etc a",
    "go build -o /etc/f",
    "ld -o /etc/f a",
    "rustc -o /etc/f a.rs",
    "javac -d /etc a.java",
    "cmake -B /etc/f",
    "make -C /etc install",
    "make install DESTDIR=/etc",
    "./configure --prefix=/etc",
    "openssl req -x509 -out /etc/f",
    "ssh-keygen -q -f /etc/f",
    "gpg -o /etc/f -d a",
    "xxd -r a /etc/f",
    "objcopy a /etc/f",
    "strip -o /etc/f a",
    "ffmpeg -i a -c:v copy /etc/f.mp4",
    "convert a /etc/f.png",
    "sqlite3 /etc/f 'create table a(b)'",
    "mysqldump -r /etc/f a",
    "pg_dump -f /etc/f a",
    "mktemp -p /etc",
    "mount a /etc",
    "docker run -v /etc:/h a",
    "docker run --rm --volume=/etc:/h:rw a",
    "docker cp c:/f /etc/f",
    "kubectl cp p:/f /etc/f",
    "rclone copy a /etc",
    "aws s3 cp s3://a /etc/f",
    "gsutil -m cp gs://a /etc/f",
    "yq -i .a=1 /etc/f",
    "black /etc/f",
    "prettier --write /etc/f",
    "ruff format /etc/f",
    "gofmt -w /etc/f",
    "clang-format -i /etc/f",
    "eslint --fix /etc/f",
    "script /etc/f",
    "strace -o /etc/f ls",
    "time -o /etc/f ls",
    "tcpdump -w /etc/f",
    "pandoc -o /etc/f a",
)
UNWRITTEN = (
    "dd if=/etc/f of=a",
    "rsync -av /etc/f h:/srv/f",
    "scp /etc/f h:/etc/f",
    "perl -ne 's/a/b/' /etc/f",
    "perl -pe s/a/b/ /etc/f",
    "uniq -c /etc/f",
    "go build -o app ./cmd/app",
    "cmake -B build -S .",
    "make -j4 install",
    "openssl x509 -in /etc/f -noout",
    "docker run --rm -v /etc:/h:ro a",
    "docker run -v $(pwd):/app a",
    "docker cp a c:/etc/f",
    "aws s3 cp a s3://b/etc/f",
    "yq .a /etc/f",
    "prettier --check /etc/f",
    "gofmt -l /etc/f",
    "eslint /etc/f",
    "git -C /etc status",
    "time ls /etc",
    "pandoc /etc/f -o a",
)


@pytest.mark.parametrize(
    ("text", "stays"),
    [*((each, False) for each in WRITTEN), *((each, True) for each in UNWRITTEN)],
)
def test_what_is_written_is_known(text: str, *, stays: bool) -> None:
    """A command that writes a file of the system does, and its neighbour that reads it does not."""
    facts = TEXT_KINDS["shell"].facts_of(text)
    assert facts is not None
    written = [under(each, ("/work",), "/work") for each in facts["writes"]]
    assert all(written) is stays
