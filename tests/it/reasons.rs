//! docs/reasons.md: every reason code, from the tables in the code.

use std::fs;
use std::path::{Path, PathBuf};

use comity::reasons::{CutReason, FailureReason, HookReason, IndexFault, UndecidedReason};
use comity_compliance::robots::Lint;
use comity_compliance::{
    CanonicalReason, Directives, GroundsReason, LeftOut, NoFollow, NotListed, Publication,
    RefusalReason, SitemapFault, Terms, WaitCause, Withheld,
};

use crate::generated;

/// The rows of one list of reasons.
macro_rules! rows {
    ($list:ident) => {
        $list::ALL
            .iter()
            .map(|reason| [reason.code(), reason.clause(), reason.meaning(), reason.advice()])
            .collect::<Vec<_>>()
    };
}

#[test]
fn reasons() {
    let chapters = [
        ("Fetched: why a URL may be fetched", "GroundsReason", rows!(GroundsReason)),
        ("Refused: why a URL is not fetched", "RefusalReason", rows!(RefusalReason)),
        ("Waiting: what a URL waits for", "WaitCause", rows!(WaitCause)),
        ("Not known yet: what comes before a verdict", "UndecidedReason", rows!(UndecidedReason)),
        ("Failed: why a visit brought no page", "FailureReason", rows!(FailureReason)),
        ("Withheld: why a page is not shown", "Withheld", rows!(Withheld)),
        ("Not followed: why a link is left", "NoFollow", rows!(NoFollow)),
        ("Not listed: why an entry of a sitemap does not count", "NotListed", rows!(NotListed)),
        ("Sitemaps: what is wrong with the text of one", "SitemapFault", rows!(SitemapFault)),
        ("Left out: why a found URL is not queued", "LeftOut", rows!(LeftOut)),
        ("Cut: why links of a page are not even known", "CutReason", rows!(CutReason)),
        ("Hooks: why the operator's own program leaves something", "HookReason", rows!(HookReason)),
        (
            "Index: what `comity index verify` finds wrong beside a page's own rules",
            "IndexFault",
            rows!(IndexFault),
        ),
        ("Canonical: why an address stands for a page", "CanonicalReason", rows!(CanonicalReason)),
        ("Lint: what is odd in a robots.txt", "robots::Lint", rows!(Lint)),
    ];
    let mut page = format!(
        "# Reasons\n\n{}\nEvery answer of the engine has one of these codes, in `comity explain`, in \
         `audit.jsonl` and in\nthe library; a code never changes. Clauses are those of \
         [requirements.md](requirements.md).\n",
        generated::NOTE
    );
    for (title, name, rows) in chapters {
        page.push_str(&format!(
            "\n## {title}\n\n`{name}` in the library.\n\n\
             | code | clause | meaning | what can be done |\n|---|---|---|---|\n"
        ));
        for [code, clause, meaning, advice] in rows {
            page.push_str(&format!("| `{code}` | {clause} | {meaning} | {advice} |\n"));
        }
        if name == "Withheld" {
            page.push_str(&shown_in_part());
        }
    }
    generated::assert_current("docs/reasons.md", &page);
}

/// What stands in the place of a reason where a page is neither shown in full nor withheld.
fn shown_in_part() -> String {
    let embedded = Publication::EmbeddedOnly(Terms::of(&Directives::default()));
    format!(
        "\nA page with `indexifembedded` beside its `noindex` is not withheld: it has the code `{}` \
         (RM-025, AM-59), and is\nshown as a part of pages that embed it only. A site owner who wants \
         it shown by itself removes the `noindex`.\n",
        embedded.code()
    )
}

/// A code is written in its table, and nowhere else in the crawler. Codes of one word are left out:
/// they are words of other things too.
#[test]
fn codes_stand_in_their_tables_only() {
    let codes = (FailureReason::ALL.iter().map(|reason| reason.code()))
        .chain(LeftOut::ALL.iter().map(|reason| reason.code()))
        .chain(CutReason::ALL.iter().map(|reason| reason.code()))
        .chain(IndexFault::ALL.iter().map(|reason| reason.code()))
        .chain(UndecidedReason::ALL.iter().map(|reason| reason.code()))
        .chain(RefusalReason::ALL.iter().map(|reason| reason.code()))
        .chain(GroundsReason::ALL.iter().map(|reason| reason.code()));
    let quoted: Vec<_> =
        codes.filter(|code| code.contains('-')).map(|code| format!("\"{code}\"")).collect();
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../crawler/src"));
    assert!(sources.len() > 50, "{sources:?}");
    for path in sources.iter().filter(|path| !path.ends_with("reasons.rs")) {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let found: Vec<_> = quoted.iter().filter(|code_of| code.contains(*code_of)).collect();
        assert!(found.is_empty(), "{}: {found:?} belong to a table of reasons", path.display());
    }
}

/// The files of a directory and those below it, tests apart.
fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && !entry.ends_with("tests") {
            files.extend(sources(&entry));
        } else if entry.extension().is_some_and(|kind| kind == "rs") && !entry.ends_with("tests.rs")
        {
            files.push(entry);
        }
    }
    files
}
