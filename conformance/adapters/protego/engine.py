"""Protego, the robots.txt parser of Scrapy, as an engine."""

import json
import sys

from protego import Protego


def answer(question):
    agents = question.get("agents", [])
    if question["kind"] not in ("robots", "parser") or "robots" not in question or len(agents) != 1:
        return {"skip": "one agent and a text: nothing else"}
    if "crawl_delay_s" in question["want"]:
        return {"skip": "it tells a crawl-delay, and not whether a policy keeps it"}
    rules = Protego.parse(question["robots"])
    told = {}
    if "allowed" in question["want"]:
        told["allowed"] = rules.can_fetch(question["url"], agents[0])
    if "sitemaps" in question["want"]:
        told["sitemaps"] = list(rules.sitemaps)
    return told


for line in sys.stdin:
    question = json.loads(line)
    told = {"id": question["id"], **answer(question)}
    print(json.dumps(told), flush=True)
