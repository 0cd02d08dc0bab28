// robots-parser from npm as an engine.

import { createInterface } from "node:readline";
import robotsParser from "robots-parser";

function answer(question) {
  const agents = question.agents ?? [];
  const kind = question.kind === "robots" || question.kind === "parser";
  if (!kind || question.robots === undefined || agents.length !== 1) {
    return { skip: "one agent and a text: nothing else" };
  }
  if (question.want.includes("crawl_delay_s")) {
    return { skip: "it tells a crawl-delay, and not whether a policy keeps it" };
  }
  let place;
  try {
    place = new URL("/robots.txt", question.url);
  } catch {
    return { skip: "it takes URLs of the file's own site only" };
  }
  const rules = robotsParser(place.href, question.robots);
  // It says undefined of a URL that it does not take for one of the site.
  return {
    allowed: rules.isAllowed(question.url, agents[0]) ?? null,
    sitemaps: rules.getSitemaps(),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  const told = { id: question.id, ...answer(question) };
  process.stdout.write(`${JSON.stringify(told)}\n`);
}
