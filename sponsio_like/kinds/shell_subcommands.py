"""The rows of subcommands: `git push`, `pip install`, `kubectl delete` and their like.

Sources: the manual pages of each tool named.
"""

from __future__ import annotations

from collections.abc import Mapping

from sponsio_like.kinds.shell_options import (
    Destroys,
    Options,
    Row,
    always,
    among,
    completed,
    first,
    flag,
    unless_dry,
)


def _git_push(said: Options) -> str:
    forced = said.has("--force", "-f", "--mirror", "--delete", "-d", "--prune")
    return "git push --force" if forced or any(each[:1] in "+:" for each in said.rest[1:]) else ""


def _git_reset(said: Options) -> str:
    return "git reset --hard" if said.has("--hard", "--merge") else ""


def _git_clean(said: Options) -> str:
    return "git clean -f" if said.has("-f", "--force") else ""


def _git_checkout(said: Options) -> str:
    return "git checkout --force" if said.has("-f", "--force") or "." in said.rest else ""


def _git_restore(said: Options) -> str:
    index_alone = said.has("--staged", "-S") and not said.has("--worktree", "-W")
    return "git restore ." if "." in said.rest and not index_alone else ""


def _git_branch(said: Options) -> str:
    return (
        "git branch -D"
        if said.has("-D") or (said.has("-f", "--force") and said.has("-d", "--delete"))
        else ""
    )


def _aws_s3(said: Options) -> str:
    destroys = said.rest[:1] and (said.rest[0] in ("rm", "rb") or said.has("--delete"))
    return f"aws s3 {said.rest[0]}" if destroys else ""


def _kubectl(destroys: Destroys) -> Destroys:
    """Return a rule that lets dry runs be. `--dry-run=none` is no dry run."""
    return unless_dry(destroys, "--dry-run", values=frozenset({"client", "server"}))


_NAMES = ("--name", "--namespace", "-n", "--context", "--kubeconfig", "-f", "--profile", "--region")
GLOBAL: Mapping[str, tuple[str, ...]] = {
    "git": ("-C", "-c", "--git-dir", "--work-tree", "--namespace"),
    "kubectl": (*_NAMES, "--cluster", "--user", "--token"),
    "docker": ("--context", "-c", "--config", "--log-level", "-l"),
    "aws": ("--profile", "--region", "--output", "--query", "--color"),
    "helm": ("--namespace", "-n", "--kube-context", "--kubeconfig"),
    "gcloud": ("--project", "--account", "--zone", "--region", "--format"),
    "terraform": ("-chdir",),
}
"""Options before a subcommand that take a value, beside those in `SERVERS`."""
SERVERS: Mapping[str, Mapping[str, str]] = {
    "docker": {"-H": "h", "--host": "h"},
    "kubectl": {"-s": "h", "--server": "h"},
    "aws": {"--endpoint-url": "h"},
    "npm": {"--prefix": "w", "--registry": "h"},
    "pip": {"--proxy": "h", "--index-url": "h", "--extra-index-url": "h"},
}
"""Options of all subcommands whose values have a role."""
_NONE: dict[str, Row] = {}
_INDEX = {
    **dict.fromkeys(("-i", "--index-url", "--extra-index-url", "--index", "--proxy"), "h"),
    **dict.fromkeys(("-f", "--find-links"), "u"),
}
_PIP: dict[str, Row] = {
    "install": Row(
        "p*",
        "ec",
        ("--editable", "--constraint"),
        {"-t": "w", "--target": "w", "--prefix": "w", "-r": "r", "--requirement": "r", **_INDEX},
    ),
    "uninstall": Row("-*", destroys=always("pip uninstall"), depends=False),
    **dict.fromkeys(("download", "wheel"), Row("p*", "", (), {"-d": "w", "-w": "w", **_INDEX})),
}
_NPM: dict[str, Row] = {
    **dict.fromkeys(("install", "i", "add", "ci"), Row("p*")),
    "pack": Row("", "", (), {"--pack-destination": "w"}),
    **dict.fromkeys(("uninstall", "remove", "rm"), Row("-*")),
    "config": Row("--u"),
    "publish": Row(destroys=always("npm publish"), depends=False),
    "unpublish": Row(destroys=always("npm unpublish"), depends=False),
}
_APT: dict[str, Row] = {
    **dict.fromkeys(("install", "add"), Row("p*", "ot")),
    **dict.fromkeys(
        ("remove", "purge", "autoremove", "erase", "del", "uninstall"),
        Row("-*", destroys=always("remove packages"), depends=False),
    ),
}
_TERRAFORM: dict[str, Row] = {
    "destroy": Row(destroys=always("terraform destroy"), depends=False),
    "apply": Row(
        destroys=lambda said: (
            "terraform apply -auto-approve"
            if said.has("-auto-approve", "-a", "--auto-approve")
            else "terraform apply -destroy"
            if said.has("-d", "--destroy")
            else ""
        )
    ),
    "state": Row(destroys=first("terraform state", "rm", "push")),
    "workspace": Row(destroys=first("terraform workspace", "delete")),
    "init": Row("-*", "", (), {"-from-module": "u"}),
}
_COMPOSE = Row(
    "-*",
    "fp",
    ("--file", "--project-name"),
    destroys=lambda said: (
        "docker compose down -v" if "down" in said.rest and said.has("-v", "--volumes") else ""
    ),
)
_HG: dict[str, Row] = dict.fromkeys(
    ("clone", "pull", "push", "checkout", "co", "branch"), Row("u*")
)
_SUBCOMMANDS: dict[str, dict[str, Row]] = {
    "git": {
        "push": Row(
            "u-*", "o", ("--push-option",), destroys=unless_dry(_git_push, "-n", "--dry-run")
        ),
        "reset": Row(destroys=_git_reset),
        "clean": Row("d*", "e", destroys=unless_dry(_git_clean, "-n", "--dry-run")),
        "checkout": Row("", "bB", destroys=_git_checkout),
        "restore": Row("w*", "s", destroys=_git_restore),
        "branch": Row(destroys=_git_branch),
        "init": Row("w", "b"),
        "rm": Row(
            "d*", destroys=lambda s: "git rm -r" if s.has("-r") and not s.has("--cached") else ""
        ),
        "mv": Row("m*w"),
        "clone": Row("hw", "bou", ("--depth", "--branch", "--origin")),
        **dict.fromkeys(("fetch", "pull", "ls-remote"), Row("u-*", "o", ("--depth",))),
        "remote": Row("--u", destroys=first("git remote", "remove", "rm")),
        "submodule": Row("-uw", "b", destroys=first("git submodule", "deinit")),
        "archive": Row(
            "-*", "", ("--format", "--prefix"), {"-o": "w", "--output": "w", "--remote": "u"}
        ),
        "format-patch": Row("-*", "v", paths={"-o": "w", "--output-directory": "w"}),
        "bundle": Row("-w-*"),
        **dict.fromkeys(("diff", "log", "show"), Row("-*", "nSG", paths={"--output": "w"})),
        "hash-object": Row("r*"),
        "switch": Row(
            "-*", "cC", destroys=flag("git switch -f", "-f", "--force", "--discard-changes")
        ),
        "read-tree": Row("-*", destroys=flag("git read-tree --reset", "--reset")),
        "stash": Row(destroys=first("git stash", "drop", "clear")),
        "reflog": Row(destroys=first("git reflog", "expire", "delete")),
        "filter-branch": Row(destroys=always("git filter-branch"), depends=False),
        "filter-repo": Row(destroys=always("git filter-repo"), depends=False),
        "gc": Row(destroys=flag("git gc --prune", "--prune")),
        "update-ref": Row(destroys=flag("git update-ref -d", "-d")),
        "tag": Row(destroys=flag("git tag -d", "-d", "--delete")),
        "worktree": Row("-w", "bB", destroys=first("git worktree", "remove", "prune")),
    },
    **dict.fromkeys(("pip", "pip3", "pipx"), _PIP),
    "uv": {
        "add": Row("p*", paths=_INDEX),
        "pip": Row("-p*", paths=_INDEX),
        "tool": Row("-p*", paths=_INDEX),
        "venv": Row("w", "p"),
    },
    "gsutil": {w: Row("-*", destroys=always("gsutil rm")) for w in ("rm", "rb")}
    | dict.fromkeys(("cp", "mv", "rsync"), Row("SC")),
    "poetry": {"add": Row("p*"), "remove": Row("-*")},
    "pipenv": {"install": Row("p*")},
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _NPM),
    **dict.fromkeys(("npx", "bunx", "uvx"), _NONE),
    **dict.fromkeys(
        ("apt", "apt-get", "yum", "dnf", "apk", "brew", "zypper", "flatpak", "snap"), _APT
    ),
    "gem": {"install": Row("p*", "v", paths={"-s": "h", "--source": "h"})},
    "cargo": {
        "install": Row("p*", "", ("--path",), {"--root": "w", "--git": "u"}),
        "add": Row("p*", paths={"--git": "u"}),
        "build": Row("-*", "p", paths={"--target-dir": "w"}),
        "publish": Row(destroys=always("cargo publish")),
        "yank": Row("-*", destroys=always("cargo yank")),
    },
    "go": {
        "install": Row("g*"),
        "get": Row("g*"),
        "mod": Row("-g*"),
        "build": Row("-*", "o", paths={"-o": "w"}),
    },
    "ruff": {"format": Row("w*")},
    "docker": {
        "*": Row("-*"),
        "cp": Row("SC"),
        "pull": Row("i"),
        "run": Row("i", paths={"--env-file": "r", "--cidfile": "w"}),
        "login": Row("h", "up"),
        "build": Row("u", "t", ("--tag", "--build-arg", "--target"), {"-f": "r", "--file": "r"}),
        **dict.fromkeys(("save", "export"), Row("-*", paths={"-o": "w", "--output": "w"})),
        "compose": _COMPOSE,
        "builder": Row(destroys=first("docker builder", "prune")),
        "network": Row(destroys=first("docker network", "rm", "prune")),
        **dict.fromkeys(("rm", "rmi"), Row(destroys=always("docker rm"), depends=False)),
        "system": Row(destroys=first("docker system", "prune")),
        "volume": Row(destroys=first("docker volume", "rm", "prune")),
        "image": Row(destroys=first("docker image", "rm", "prune")),
        "container": Row(destroys=first("docker container", "rm", "prune")),
        "push": Row("i", destroys=always("docker push"), depends=False),
    },
    "kubectl": {
        "*": Row("-*"),
        "cp": Row("SC", "c", _NAMES),
        **dict.fromkeys(
            ("delete", "drain", "replace"),
            Row(long=_NAMES, destroys=_kubectl(always("kubectl delete")), depends=False),
        ),
        "apply": Row(
            "-*",
            paths={"-f": "o", "--filename": "o"},
            destroys=_kubectl(flag("kubectl apply --prune", "--prune")),
        ),
        "create": Row("-*", paths={"-f": "o", "--from-file": "r"}),
        "scale": Row(
            "-*",
            "",
            ("--replicas",),
            destroys=_kubectl(
                lambda s: "kubectl scale 0" if s.values.get("--replicas") == "0" else ""
            ),
        ),
    },
    "helm": {
        **dict.fromkeys(
            ("uninstall", "delete", "rollback"),
            Row("-*", destroys=unless_dry(always("helm uninstall"), "--dry-run"), depends=False),
        ),
        "repo": Row("--u"),
        **dict.fromkeys(("install", "upgrade", "pull"), Row("-u")),
    },
    "docker-compose": {"*": _COMPOSE},
    **dict.fromkeys(("hg", "svn", "bzr", "jj"), _HG),
    **{
        name: {"*": Row("-*", destroys=among(name, r"(?:.*:)?(?:delete|destroy|purge|remove|rm)"))}
        for name in ("gcloud", "az", "doctl", "heroku", "fly", "flyctl", "vercel", "netlify", "oc")
    },
    **{
        name: {
            word: Row("-*", destroys=always(f"{name} {word}"), depends=False)
            for word in ("destroy", "delete", "remove")
        }
        for name in ("pulumi", "cdk", "sam", "serverless", "sls")
    },
    **dict.fromkeys(("terraform", "tofu"), _TERRAFORM),
    "aws": {
        "s3": Row(
            "-SC",
            destroys=unless_dry(_aws_s3, "--dryrun"),
        ),
        "*": Row("-*", destroys=among("aws", r"(?:delete|terminate|purge|remove|deregister)-.+")),
    },
    "gh": {
        "repo": Row(destroys=first("gh repo", "delete", "archive")),
        "release": Row(destroys=first("gh release", "delete")),
        "api": Row(
            "-*",
            "XHfF",
            ("--method",),
            destroys=lambda s: (
                "gh api DELETE"
                if "DELETE" in (s.values.get("-X"), s.values.get("--method"))
                else ""
            ),
        ),
    },
}
SUBCOMMANDS: Mapping[str, Mapping[str, Row]] = {
    name: {
        word: completed(row._replace(paths={**SERVERS.get(name, {}), **row.paths}))
        for word, row in rows.items()
    }
    for name, rows in _SUBCOMMANDS.items()
}
"""The rows by the names of commands and of their subcommands; `*` for all other ones."""
