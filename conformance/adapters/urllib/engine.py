"""Python's own robots.txt parser, urllib.robotparser, as an engine."""

import json
import sys
import urllib.robotparser

for line in sys.stdin:
    question = json.loads(line)
    agents = question.get("agents", [])
    kind = question["kind"] in ("robots", "parser")
    if not kind or question["want"] != ["allowed"] or "robots" not in question or len(agents) != 1:
        answer = {"skip": "one agent, a text, and whether it may fetch: nothing else"}
    else:
        parser = urllib.robotparser.RobotFileParser()
        parser.parse(question["robots"].splitlines())
        answer = {"allowed": parser.can_fetch(agents[0], question["url"])}
    answer["id"] = question["id"]
    print(json.dumps(answer), flush=True)
