//! Area sitemap: files through the reader, entries through the rule, indexes through the walk.
//! No socket is opened.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::ops::ControlFlow;

use comity::sitemap::{
    Listed, PlannedSitemap, SitemapLimits, SitemapReader, SitemapReport, Walk, WalkLimits,
};
use comity_compliance::robots::{Access, RobotsTxt};
use comity_compliance::{CrossSubmission, Origin, Submission};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use url::Url;

use super::{Answers, Case, NOW, bytes, header_lines, text};

pub(super) fn judge(case: &Case) -> Answers {
    let mut crawl = Crawl::of(case);
    crawl.run(&Url::parse(text(&case.input, "url")).unwrap());
    let mut answers = Answers::new();
    let maybe = |url: &&String| is_among(&case.expect["urls_maybe"], url);
    let urls: Vec<_> = crawl.counted.iter().filter(|url| !maybe(url)).collect();
    answers.insert("urls".into(), json!(urls));
    answers.insert("sitemaps".into(), json!(crawl.named));
    let never = |key: &str, seen: &[String]| -> Value {
        let listed = case.expect[key].as_array().into_iter().flatten();
        let is_right =
            |url: &&Value| url.as_str().is_some_and(|url| !seen.iter().any(|seen| seen == url));
        listed.filter(is_right).cloned().collect()
    };
    answers.insert("urls_never".into(), never("urls_never", &crawl.counted));
    answers.insert("must_not_request".into(), never("must_not_request", &crawl.requests));
    for (key, reached) in [
        ("requests_max", crawl.requests.len() as u64),
        ("depth_max", u64::from(crawl.deepest)),
        ("decoded_bytes_max", crawl.most_bytes),
    ] {
        let most = case.expect[key].as_u64();
        answers.insert(key.into(), json!(most.map_or(reached, |most| most.max(reached))));
    }
    let asked = case.expect["lastmod"].as_object().into_iter().flatten();
    let lastmod = asked.map(|(url, expect)| (url.clone(), crawl.lastmod(url, expect)));
    answers.insert("lastmod".into(), lastmod.collect::<Answers>().into());
    answers
}

fn is_among(urls: &Value, url: &str) -> bool {
    urls.as_array().is_some_and(|urls| urls.iter().any(|listed| listed == url))
}

/// A crawl of a case's sitemaps.
struct Crawl<'c> {
    case: &'c Case,
    robots: Option<RobotsTxt>,
    /// What robots.txt names.
    named: Vec<String>,
    requests: Vec<String>,
    counted: Vec<String>,
    dates: Vec<(String, String)>,
    deepest: u8,
    most_bytes: u64,
}

impl<'c> Crawl<'c> {
    fn of(case: &'c Case) -> Self {
        let robots_url = "https://example.com/robots.txt";
        let robots = [&case.input["robots"], &case.input["files"]]
            .iter()
            .find_map(|files| files.get(robots_url)?.as_str());
        let robots = robots.map(|text| RobotsTxt::parse(text.as_bytes()));
        let named = robots.iter().flat_map(|robots| robots.sitemaps());
        Self {
            case,
            named: named.map(|(_, url)| url.to_owned()).collect(),
            robots,
            requests: Vec::new(),
            counted: Vec::new(),
            dates: Vec::new(),
            deepest: 0,
            most_bytes: 0,
        }
    }

    fn run(&mut self, url: &Url) {
        let mut walk = Walk::new(WalkLimits::default());
        let origin = Origin::of(url).unwrap();
        for named in &self.named {
            let named = Url::parse(named).unwrap();
            let _ = walk.submit(&named, Submission::RobotsTxt(origin.clone()));
        }
        let _ = walk.submit(url, Submission::Unsubmitted);
        while let Some(sitemap) = walk.take_next() {
            if self.may_fetch(&sitemap.url) {
                self.requests.push(sitemap.url.as_str().into());
                self.deepest = self.deepest.max(sitemap.depth);
                self.fetch(sitemap, &mut walk);
            }
        }
    }

    fn may_fetch(&self, url: &Url) -> bool {
        let verdict = |robots: &RobotsTxt| {
            robots.verdict(self.case.policy.preset, &[self.case.token()], url).access
        };
        self.robots.as_ref().is_none_or(|robots| verdict(robots) == Access::Allow)
    }

    fn fetch(&mut self, sitemap: PlannedSitemap, walk: &mut Walk) {
        let file = &self.case.input["files"][sitemap.url.as_str()];
        if let Some(location) = file["location"].as_str() {
            let _ = walk.redirect(sitemap, &Url::parse(location).unwrap());
            return;
        }
        let body = match file.as_str() {
            Some(body) => Some(body.as_bytes().to_vec()),
            None => self.body(&sitemap.url),
        };
        let Some(body) = body else { return };
        let mut listed = Vec::new();
        let report = self.read(&body[..], &mut listed);
        self.most_bytes = self.most_bytes.max(report.bytes);
        for entry in listed {
            match entry {
                Listed::Sitemap(below) => {
                    let _ = walk.list(&sitemap, &below.url, CrossSubmission::NotNamed);
                }
                Listed::Page(page) => {
                    if sitemap.may_list(&page.url, CrossSubmission::NotNamed).is_ok() {
                        let url = page.url.as_str().to_owned();
                        let date = page.lastmod.map(|date| date.to_string());
                        self.dates.push((url.clone(), date.unwrap_or_default()));
                        self.counted.push(url);
                    }
                }
            }
        }
    }

    fn read(&self, body: impl BufRead, listed: &mut Vec<Listed>) -> SitemapReport {
        let headers = &self.case.input["headers"];
        let content_type = header_lines(headers, "Content-Type").next().unwrap_or_default();
        SitemapReader::new(SitemapLimits::default(), NOW)
            .with_content_type(&String::from_utf8_lossy(&content_type))
            .read(body, |entry| {
                listed.push(entry);
                ControlFlow::Continue(())
            })
    }

    /// What is at the case's own URL, after the content coding.
    fn body(&self, url: &Url) -> Option<Vec<u8>> {
        let input = &self.case.input;
        if let Some(generator) = input["generator"].as_str() {
            return Some(generated(generator, url));
        }
        if url.as_str() != text(input, "url") {
            return None;
        }
        if let Some(body) = input["body"].as_str() {
            return Some(body.into());
        }
        if input["body_b64"].is_string() {
            return Some(bytes(&input["body_b64"]));
        }
        let wire = input["wire_b64"].is_string().then(|| bytes(&input["wire_b64"]))?;
        assert_eq!(header_lines(&input["headers"], "Content-Encoding").next().unwrap(), b"gzip");
        let mut body = Vec::new();
        GzDecoder::new(&wire[..]).read_to_end(&mut body).unwrap();
        Some(body)
    }

    /// What is known of a page's date, as precise as it is asked for.
    fn lastmod(&self, url: &str, expect: &Value) -> Value {
        let date = self.dates.iter().find(|(dated, _)| dated == url);
        let date = date.map_or("", |(_, date)| date.as_str());
        // What a shorter form leaves out is the first instant; fractions of a second are dropped.
        let whole = |asked: &str| match asked.split_once('T') {
            None => Some(format!("{asked}{}", "0000-01-01T00:00:00Z".get(asked.len()..)?)),
            Some((day, time)) => {
                let time = time.strip_suffix('Z')?;
                Some(format!("{day}T{}Z", time.split('.').next()?))
            }
        };
        let is_right = whole(expect.as_str().unwrap()).as_deref() == Some(date);
        if is_right { expect.clone() } else { json!(date) }
    }
}

/// The file that a case describes in words.
fn generated(words: &str, url: &Url) -> Vec<u8> {
    match words {
        "each index https://example.com/i/N.xml lists i/10N.xml .. i/10N+9.xml" => {
            let name = url.path().trim_start_matches("/i/").trim_end_matches(".xml");
            let number: u64 = name.parse().unwrap_or(1);
            let list: String = (0..10)
                .map(|below| {
                    let below = number * 10 + below;
                    format!("<sitemap><loc>https://example.com/i/{below}.xml</loc></sitemap>")
                })
                .collect();
            format!("<sitemapindex>{list}</sitemapindex>").into()
        }
        "gzip of a urlset with one loc then 2 GiB of blanks" => {
            let gzip = |text: &[u8]| {
                let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
                packed.write_all(text).unwrap();
                packed.finish().unwrap()
            };
            let head = b"<urlset><url><loc>https://example.com/a</loc></url>";
            // Members behind one another are one file.
            let blanks = gzip(&vec![b' '; 4 << 20]);
            [gzip(head), blanks.repeat(512)].concat()
        }
        other => panic!("who makes {other}?"),
    }
}

/// SM-001, SM-004 of the corpus' reports: what was left out is told, with its place.
#[test]
fn what_is_left_out_is_told() {
    let cases = [
        ("SM-004", "relative-url", 3),
        ("SM-020", "not-a-sitemap", 1),
        ("SM-021", "unknown-entity", 2),
        ("SM-026", "not-http-url", 1),
        ("SM-027", "no-loc", 2),
        ("SM-031", "bare-ampersand", 1),
    ];
    let corpus = super::corpus();
    for (id, fault, count) in cases {
        let case = corpus.iter().find(|case| case.id == id).unwrap();
        let crawl = Crawl::of(case);
        let body = crawl.body(&Url::parse(text(&case.input, "url")).unwrap()).unwrap();
        let mut listed = Vec::new();
        let report = crawl.read(BufReader::new(&body[..]), &mut listed);
        let found = report.counts.iter().find(|(found, _)| found.code() == fault);
        assert_eq!(found.map(|(_, found)| *found), Some(count), "{id}: {report:?}");
        assert!(report.faults.iter().all(|fault| fault.at.line >= 1), "{id}");
    }
}
