#!/usr/bin/env python3
"""Writes docs/grades.md from the results of conformance/grades/run."""

import json
import pathlib
import re
import sys

NAMES = ["comity", "wget", "scrapy", "crawlee", "spider"]
MARK = {"kept": "kept", "broken": "**broken**", "not-exercised": "–"}

work = pathlib.Path(sys.argv[1])
names = [name for name in NAMES if (work / f"{name}.json").exists()]
missing = {name: (work / f"{name}.missing").read_text().strip() for name in NAMES
           if name not in names and (work / f"{name}.missing").exists()}


def results(run):
    return {r["scenario"]["name"]: r for r in run["results"]}


runs = {name: json.loads((work / f"{name}.json").read_text()) for name in names}
by_name = {name: results(runs[name]) for name in names}
by_address = {name: results(json.loads((work / f"{name}-address.json").read_text()))
              if (work / f"{name}-address.json").exists() else {} for name in names}
scenarios = {}
for run in runs.values():
    for result in run["results"]:
        scenarios.setdefault(result["scenario"]["name"], result["scenario"])


def clean(text):
    """Without what differs from machine to machine."""
    for part in (str(work), str(pathlib.Path.cwd())):
        text = text.replace(part, "…")
    return text


def short(finding):
    """Without the times of single requests: the reports have them."""
    return re.sub(r"(\d+\.\d\d s|(\d+ d )?\d+ h \d\d min)  ", "", finding)


def cell(name, key):
    """The verdict by name; and the one by address, where it is another one."""
    if key not in by_name[name]:
        return ""
    verdict = by_name[name][key]["verdict"]
    other = by_address[name].get(key, by_name[name][key])["verdict"]
    return MARK[verdict] + ("" if other == verdict else f" ({MARK[other]} by address)")


print("""# Grades of known crawlers

What crawlers requested in the lab of [conformance](conformance.md), scenario by scenario: a record of
one run each, with the settings below, and no judgement of what a program is good for. Several of these
programs leave parts of this to whoever uses them; a setting or a few lines may change a row.
`conformance/grades/run` installs them, runs them and writes this page.

The sites were reached by host name, through the lab's proxy, and once more by address (127.0.1.1 …);
where that came out otherwise, the cell says so. Crawlee was run by address alone: with a proxy, it asks
for robots.txt without it, and there is no such host outside the lab. Scenarios of hours and days (`outage-*`,
`robots-life-*`, `revisit-*` and some others) were run under libfaketime, one run of the crawler after
the other on the same directory. Only comity was told to keep there what it knows; the others were
started with the command lines below, and so began each run without knowing of the one before.

Kept: the ledger shows all that the scenario expects. Broken: it shows something else; the requests are
named below (`NAME.html` of a run has all of them, with their times). –: the crawler did not come to
where it would show. An empty field: the crawler was not run for it, as it is about another policy, or needs the proxy.

## Versions and settings
""")
for name in names:
    command = " ".join(clean(runs[name]["crawler"]).split())
    version = (work / f"{name}.version").read_text().strip()
    print(f"- **{name}**: {clean(version).split(' (')[0].rstrip('.')}, policy {runs[name]['policy']}, told "
          f"{runs[name]['interval_s']:g} s from request to request of a site\n  `{command}`")
for name, why in missing.items():
    print(f"- **{name}** could not be installed, and is left out: {clean(why)}")
print("\nWhat is run beside the command lines stands in `conformance/grades/`.\n\n## Counts\n")
print("| crawler | MUST kept | broken | – | SHOULD kept | broken | – | HOUSE kept | broken | – |")
print("|---|" + "---|" * 9)
for name in names:
    cells = []
    for level in ("MUST", "SHOULD", "HOUSE"):
        of_level = [r for r in runs[name]["results"] if r["scenario"]["level"] == level]
        cells += [str(sum(r["verdict"] == v for r in of_level)) for v in MARK]
    print(f"| {name} | " + " | ".join(cells) + " |")
print("\n## Scenario by scenario\n\n| scenario | level | clauses | " + " | ".join(names) + " |")
print("|---|---|---|" + "---|" * len(names))
for key, scenario in sorted(scenarios.items()):
    cells = [cell(name, key) for name in names]
    print(f"| {key} | {scenario['level']} | {' '.join(scenario['clauses'])} | " + " | ".join(cells) + " |")
print("\n## Evidence\n")
for name in names:
    broken = [r for r in runs[name]["results"] if r["verdict"] == "broken"]
    if not broken:
        continue
    print(f"### {name}\n")
    for result in broken:
        print(f"- {result['scenario']['name']}: " + "; ".join(f"`{short(f)}`" for f in result["findings"]))
    print()
