//! The eight sites: pages a person may like to read, each with a rule in it.

mod bakery;
mod clinic;
mod ferry;
mod library;
mod museum;
mod observatory;
mod theatre;
mod town;

use super::expectations::Expect;
use super::site::Site;

/// The hub, as a template for [`super::site::Addresses::fill`].
pub(crate) const SEED: &str = "{town}/";

/// Clauses that many duties share.
const LINKED: &str = "RFC 9309 §2.2.2 (RT-083)";
const ROBOTS: &str = "RFC 9309 §2.3 (RT-001)";
const DISALLOW: &str = "RFC 9309 §2.2.2 (RT-048)";
const HOP: &str = "RFC 9110 §15.4 (HT-002)";
const NOFOLLOW: &str = "robots meta tag, nofollow (RM-022)";
const REL_NOFOLLOW: &str = "rel=nofollow (LK-002)";

/// All sites; the hub is the first and introduces the others.
pub(crate) fn sites() -> Vec<Site> {
    let others = vec![
        bakery::site(),
        library::site(),
        clinic::site(),
        theatre::site(),
        museum::site(),
        ferry::site(),
        observatory::site(),
    ];
    let mut sites = vec![town::site(&others)];
    sites.extend(others);
    sites
}

/// Addresses that the town's visitors page links to and that no public
/// crawler may connect to.
pub(crate) fn refused_addresses() -> Vec<Expect> {
    let refused = [
        (town::PRIVATE, "a private address", "RFC 1918 §3"),
        (
            town::METADATA,
            "a link-local address, where clouds serve credentials",
            "RFC 3927 §7",
        ),
    ];
    refused
        .map(|(url, why, clause)| Expect {
            url: url.to_owned(),
            why: why.to_owned(),
            clause: clause.to_owned(),
        })
        .to_vec()
}

/// A whole HTML page, with links home and to the hub at its foot.
pub(crate) fn layout(title: &str, head: &str, body: &str, home: &str, hub: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<title>{title}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <style>{STYLE}</style>\n{head}\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}\n\
         </main>\n<footer><a href=\"{home}/\">Home</a> · <a href=\"{hub}\">Little Marrow</a>\
         </footer>\n</body>\n</html>\n"
    )
}

const STYLE: &str = "body{font:1.05rem/1.6 Georgia,serif;max-width:40rem;margin:2rem auto;\
    padding:0 1rem;color:#222;background:#fdfcf8}h1{line-height:1.2}a{color:#064e7a}\
    dt{margin-top:1rem;font-weight:bold}dd{margin-left:0}footer{margin-top:3rem;\
    border-top:1px solid #ccc;padding-top:.5rem;font-size:.9rem}";
