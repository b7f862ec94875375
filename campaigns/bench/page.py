"""Writes the results as tables and curves: README.md, docs/speed.md, docs/speed/*.svg.

    python -m campaigns.bench.page        writes them anew from docs/speed.json

In: the results. Out: Markdown between `<!-- table: NAME -->` and `<!-- /table -->`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from campaigns.bench.workload import BY_THREES
from campaigns.pages import filled, markdown

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "docs" / "speed.json"
PAGES = {
    ROOT / "README.md": ("speed",),
    ROOT / "docs" / "speed.md": ("speed", "others", "parts", "run"),
}


def micro(ns: float) -> str:
    """Return nanoseconds as people read them."""
    return f"{ns / 1000:,.1f} µs" if ns < 1e6 else f"{ns / 1e6:,.1f} ms"


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """Return every table, by name."""
    run, first = _run(results), _run(results["policy"]["run"])
    runs = run if first == run else f"The first row: {first}\n\nThe others: {run}"
    head = ("what", "p50", "p99", "for comparison, in the same run")
    return {
        "speed": f"\n{markdown(head, _main(results))}\n\n{runs}\n",
        "others": f"\n{markdown(('what', 'measured'), _others(results))}\n",
        "parts": f"\n{markdown(('what', 'at the middle'), _parts(results))}\n",
        "run": f"\n{run}\n",
    }


def _run(run: Mapping[str, Any]) -> str:
    return f"{run['date']}, {run['machine']}, load {run['load']:.1f} at the start."


def _main(results: Mapping[str, Any]) -> Iterable[tuple[str, str, str, str]]:
    policy, three = results["policy"], results["three"]
    ours = policy["ours"]
    without = policy["without paths"]
    pair = f"p50 {micro(without['p50'])}, p99 {micro(without['p99'])}"
    beside = [f"without the two contracts about paths: {pair}"]
    beside += [f"written by hand, with `if`: {micro(policy['floor']['p50'])}"]
    if theirs := policy.get("sponsio"):
        beside.append(
            f"Sponsio 0.2.0a21: p50 {micro(theirs['p50'])}, which is "
            f"{theirs['p50'] / ours['p50']:,.0f} times ours, and p99 {micro(theirs['p99'])}, "
            f"{theirs['p99'] / ours['p99']:,.0f} times ours"
        )
    what = f"35 contracts, {ours['calls']:,} calls, {ours['denied']} denied and advised"
    yield what, micro(ours["p50"]), micro(ours["p99"]), "; ".join(beside)
    if rivals := results.get("templates"):
        mine, other = rivals["ours"], rivals["acel"]
        said = f"acel-core 0.1.13: p50 {micro(other['p50'])}, p99 {micro(other['p99'])}"
        yield "35 contracts of its eight kinds", micro(mine["p50"]), micro(mine["p99"]), said
    mine, hand = three["ours"], three["floor"]
    said = f"by hand, with the same regular expression: {micro(hand['p50'])}"
    yield "3 contracts about one tool", micro(mine["p50"]), micro(mine["p99"]), said


def _others(results: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    nobody, book = results["uninvolved"], results["rulebook"]
    yield "a call that no contract concerns", micro(nobody["nobody"])
    mine, hand = results["policy"]["ours"], results["policy"]["floor"]
    cold = f"{micro(mine['first of a stretch'])}; by hand {micro(hand['first of a stretch'])}"
    yield "the first call after other processes had the processor", cold
    said = f"p50 {micro(mine['denied, p50'])}, p99 {micro(mine['denied, p99'])}"
    yield "a call of the policy that is denied, with its advice", said
    others = dict(results.get("beside", {}))
    first, by_threes = (others.pop(name, {}) for name in ("one after another", BY_THREES))
    for name, each in others.items():
        base = by_threes if name.startswith("three in parallel") else first
        ratio = f"{each['p50'] / (base or first)['p50']:.1f} times one after another"
        yield f"calls {name}", f"p50 {micro(each['p50'])}, p99 {micro(each['p99'])}; {ratio}"
    for kind in ("allowed", "violating") if "observing" in results else ():
        pair = [results["observing"][f"{kind}, {how}"] for how in ("enforced", "observed")]
        ratios = (f"{name} {pair[1][name] / pair[0][name]:.2f} times" for name in ("p50", "p99"))
        yield f"a call that only observing contracts judge, {kind}", f"{', '.join(ratios)} enforced"
    least = min(book, key=int)
    more = f"{book['1000'] / book[least]:.2f} times the cost"
    yield f"1,000 contracts, most about other tools, beside {least}", more
    same = results["same_tool"]
    each = (same["1000"] - same["250"]) / 750
    yield "each of 1,000 contracts about the past of one tool", f"{each / 1000:.2f} µs"
    for kind in ("allowed", "denied"):
        pair = results["lengths"][kind]
        grown = pair["100000"] / pair["1000"]
        yield f"a call after 100,000 calls beside one after 1,000, {kind}", f"{grown:.2f} times"
    yield "memory after 100,000 calls beside 2,000", f"{results['lengths']['grown'] / 1e6:+.2f} MB"
    yield "the longest pause in 100,000 calls", micro(results["lengths"]["longest"])
    opened = results["sessions"]
    yield "to open a session", micro(opened["opening"])
    used = f"{opened['bytes']:,.0f} bytes, after two calls {opened['bytes after two calls']:,.0f}"
    yield "each of 100,000 open sessions", used
    yield "1,000 contracts from YAML to a guard", micro(results["loading"]["1000"])
    logs = results["logged"]
    for kind, what in (("logged", "a log in JSON lines"), ("queued", "one behind a queue")):
        if kind in logs:
            added = micro(logs[kind] - logs["silent"])
            if whole := logs.get(f"{kind}, processor"):
                added += f"; {micro(whole)} of the processor's time, in all threads"
            yield f"{what} adds, at the middle", added
    for kind, ns in results.get("trajectories", {}).items():
        yield f"a step of a trajectory under four specifications, told as {kind}", micro(ns)
    for name, ns in results.get("bound", {}).items():
        yield f"a decision about one of {name}", micro(ns)
    for name, ns in results["hostile"].items():
        yield f"{name} (the middle of its decisions)", micro(ns)


def _parts(results: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for name, ns in results["parts"].items():
        yield name, f"{ns / 1000:,.2f} µs"


# --- curves ---------------------------------------------------------------------------------------


def curves(results: Mapping[str, Any]) -> None:
    """Draw how the cost grows with the trace, and with the rulebook."""
    along = {
        "Sponsio 0.2.0a21, 35 contracts": results["policy"].get("sponsio", {}).get("along", {}),
        "sponsio-like, 35 contracts": _along(results),
    }
    _draw("length", "calls so far in the session", along)
    sizes = results["contracts"]
    many = {
        "Sponsio 0.2.0a21": sizes.get("sponsio", {}),
        "sponsio-like": sizes["ours"],
    }
    _draw("contracts", "contracts, most about other tools", many)


def _along(results: Mapping[str, Any]) -> dict[str, float]:
    """Return the curve of this engine.

    Its last point is the 10,000th call's, as much longer as the 100,000th was in its own run.
    """
    along = dict(results["policy"]["ours"]["along"])
    pair = results["lengths"]["allowed"]
    last = along[max(along, key=int)]
    return {**along, "100000": last * pair["100000"] / pair["1000"]}


def _draw(name: str, below: str, lines: Mapping[str, Mapping[str, float]]) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "sponsio-like"  # the same picture for the same results
    figure = Figure(figsize=(7, 3.6))
    axes = figure.subplots()
    for label, points in lines.items():
        if points:
            pairs = sorted((int(n), ns / 1000) for n, ns in points.items())
            axes.plot(*zip(*pairs, strict=True), marker="o", label=label)
    axes.set(xscale="log", yscale="log", xlabel=below, ylabel="median of a decision, µs")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    folder = ROOT / "docs" / "speed"
    folder.mkdir(exist_ok=True)
    figure.savefig(folder / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})


# --- writing --------------------------------------------------------------------------------------


def pages(results: Mapping[str, Any]) -> dict[Path, str]:
    """Return every page with its tables."""
    made, fill = tables(results), {}
    for path, names in PAGES.items():
        fill[path] = filled(path.read_text("utf-8"), {name: made[name] for name in names})
    return fill


def write(results: Mapping[str, Any], draw: Callable[[Mapping[str, Any]], None] = curves) -> str:
    """Write pages and curves; return the main tables, to be printed."""
    for path, text in pages(results).items():
        path.write_text(text, "utf-8")
    draw(results)
    made = tables(results)
    return made["speed"] + made["others"]


if __name__ == "__main__":
    write(json.loads(RESULTS.read_text("utf-8")))
