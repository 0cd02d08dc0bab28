//! docs/reasons.md: every reason code, from the tables in the code.

use comity_compliance::robots::Lint;
use comity_compliance::{
    CanonicalReason, GroundsReason, LeftOut, NoFollow, RefusalReason, WaitCause, Withheld,
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
        ("Withheld: why a page is not shown", "Withheld", rows!(Withheld)),
        ("Not followed: why a link is left", "NoFollow", rows!(NoFollow)),
        ("Left out: why a found URL is not queued", "LeftOut", rows!(LeftOut)),
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
    }
    generated::assert_current("docs/reasons.md", &page);
}
