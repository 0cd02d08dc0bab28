"""Reads an archive of a crawl with readers that others wrote, and compares what they find with the
crawl's own index and with what its sites saw. `tests/warc` runs it."""

import argparse
import collections
import glob
import io
import json
import os
import sys

from cdxj_indexer.main import CDXJIndexer
from fastwarc.warc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

CAPTURES = ("response", "revisit", "resource")


def read_broken_off(directory):
    """What a kill left must read to the last whole record."""
    for path in glob.glob(os.path.join(directory, "*.warc.gz.open")):
        records = 0
        with open(path, "rb") as file:
            try:
                for record in ArchiveIterator(file):
                    record.content_stream().read()
                    records += 1
            except Exception as error:  # the torn tail
                print(f"{os.path.basename(path)}: after {records} records: {error!r}")
        assert records > 0 or os.path.getsize(path) < 1000, path
        print(f"{os.path.basename(path)}: broken off, {records} records")


def read_with_warcio(paths):
    """All records of all files: kinds, captures by URL, and their rules."""
    kinds, captures = collections.Counter(), collections.defaultdict(list)
    for path in paths:
        with open(path, "rb") as file:
            for number, record in enumerate(ArchiveIterator(file, check_digests="raise")):
                kind = record.rec_type
                kinds[kind] += 1
                assert (kind == "warcinfo") == (number == 0), (path, number, kind)
                body = record.content_stream().read()
                if kind in CAPTURES:
                    captures[record.rec_headers["WARC-Target-URI"]].append(
                        (record.http_headers.get_statuscode(), kind)
                    )
                if kind == "response":
                    length = record.http_headers.get_header("content-length")
                    assert length is None or int(length) == len(body), (path, number)
                    assert not record.http_headers.get_header("content-encoding"), (path, number)
                if kind == "metadata":
                    name, _, decided = body.decode().strip().partition(": ")
                    assert name == "comity-decision", body
                    verdict = json.loads(decided)["verdict"]
                    assert verdict["decision"] == "fetch" and verdict["reason"], decided
    return kinds, captures


def check_digests(paths):
    class Args:
        inputs, verbose = paths, False

    assert Checker(Args).process_all() == 0, "a digest is wrong"


def read_with_fastwarc(paths):
    kinds = collections.Counter()
    for path in paths:
        with open(path, "rb") as file:
            for record in FastIterator(file, parse_http=False):
                record.freeze()
                assert record.verify_block_digest(), (path, record.record_id)
                kinds[record.headers["WARC-Type"]] += 1
    return kinds


def lines_of(text):
    lines = [line.split(" ", 2) for line in text.splitlines()]
    return [(key, time, json.loads(fields)) for key, time, fields in lines]


def index_by_another(paths):
    out = io.StringIO()
    for path in sorted(paths):
        indexer = CDXJIndexer(out, [path])
        with open(path, "rb") as file:
            indexer.process_one(file, out, path)
    return sorted(lines_of(out.getvalue()), key=lambda line: (line[0], line[1], json.dumps(line[2])))


def check_index(paths, cdxj):
    text = open(cdxj).read()
    own = text.splitlines()
    assert own == sorted(own), "the index is not sorted"
    ours = sorted(lines_of(text), key=lambda line: (line[0], line[1], json.dumps(line[2])))
    theirs = index_by_another(paths)
    for line in theirs:
        assert line in ours, f"not in our index: {line}"
    assert ours == theirs, [line for line in ours if line not in theirs]
    beside = []
    for path in paths:
        beside += open(path[: -len(".warc.gz")] + ".cdxj").read().splitlines()
    assert sorted(beside) == own, "the indexes beside the files say something else"
    return len(own)


def check_ledger(captures, ledger):
    """Every request of the crawl is there, but for what a kill cut off."""
    lines = [json.loads(line) for line in open(ledger)]
    seen = collections.defaultdict(list)
    for request in lines[1:]:
        if "path_and_query" in request:
            url = f"http://{request['host']}{request['path_and_query']}"
            seen[url].append(str(request["status"]))
    assert set(captures) == set(seen), set(captures) ^ set(seen)
    for url, statuses in seen.items():
        archived = collections.Counter(status for status, _ in captures[url])
        assert not archived - collections.Counter(statuses), (url, archived, statuses)
    requests, archived = sum(map(len, seen.values())), sum(map(len, captures.values()))
    print(f"{len(seen)} URLs, {requests} requests, {archived} captures")
    assert requests - archived <= 12, "more is missing than a kill explains"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--broken-off", action="store_true")
    parser.add_argument("--cdxj")
    parser.add_argument("--ledger")
    args = parser.parse_args()
    if args.broken_off:
        read_broken_off(args.directory)
        return
    assert not glob.glob(os.path.join(args.directory, "*.open")), "a file is not complete"
    paths = sorted(glob.glob(os.path.join(args.directory, "*.warc.gz")))
    kinds, captures = read_with_warcio(paths)
    check_digests(paths)
    assert read_with_fastwarc(paths) == kinds, "the readers do not agree"
    assert kinds["request"] == kinds["metadata"] == sum(kinds[kind] for kind in CAPTURES)
    print(f"{len(paths)} files, records {dict(kinds)}")
    if args.cdxj:
        print(f"{check_index(paths, args.cdxj)} index lines")
    if args.ledger:
        check_ledger(captures, args.ledger)


sys.exit(main())
