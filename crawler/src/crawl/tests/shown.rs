//! From a page's bytes and its headers to the result that a person sees: every rule of R8 and R10,
//! one line, one case. Each page is crawled, judged, indexed and searched for as any other.

mod soup;

use comity_compliance::VOCABULARY;
use serde_json::{Value, json};

use super::*;
use crate::extract::{Answering, ExtractError, Extractor, Item, Out, PageView, Receipt, Sink};
use crate::index::{Hit, ImagePreview, Permission, ShowLimits};

/// A page: the lines of its X-Robots-Tag, and its HTML.
#[derive(Clone, Debug)]
struct Given {
    lines: Vec<String>,
    html: String,
}

/// Many pages, each on a site of its own, crawled and indexed.
struct Shown {
    data: Data,
    web: Web,
}

/// The address of the page with this number.
fn address(at: usize) -> String {
    format!("https://site{at}.example/")
}

/// The word that all pages hold, and the page `next` that they link to.
const WORD: &str = "lighthouse";

impl Shown {
    async fn of(pages: &[Given]) -> Self {
        Self::with(pages, Hooks::default()).await
    }

    async fn with(pages: &[Given], hooks: Hooks) -> Self {
        let web = Web::new(Clock::starting_at(T0), []);
        let mut config = config("https://site0.example/");
        config.crawl.seeds = (0..pages.len()).map(address).collect();
        for (at, page) in pages.iter().enumerate() {
            let mut lines = vec![("content-type", "text/html; charset=utf-8")];
            for line in &page.lines {
                lines.push(("x-robots-tag", line.clone().leak()));
            }
            web.set(&address(at), (200, lines.leak(), page.html.clone()));
        }
        let data = Data::new();
        data.crawl_by(&web, &config, CancellationToken::new(), hooks).await;
        Self { data, web }
    }

    /// The results for `words` at `now`, by number of the page. All that these tests know of the
    /// search is here.
    fn results(&self, words: &str, now: Timestamp) -> BTreeMap<usize, Hit> {
        let searcher = Searcher::open(&self.data.index()).unwrap();
        let found = searcher.search(words, now, 1000, 0).unwrap();
        let number = |hit: &Hit| {
            let rest = hit.url.strip_prefix("https://site").unwrap();
            rest.split_once('.').unwrap().0.parse().unwrap()
        };
        let pages = found.hits.into_iter().filter(|hit| !hit.url.ends_with("next"));
        pages.map(|hit| (number(&hit), hit)).collect()
    }

    /// Whether the link to `next` on the page was followed.
    fn is_followed(&self, at: usize) -> bool {
        self.web.count(&format!("{}next", address(at))) > 0
    }
}

/// Enough words for any limit, different on every page.
fn body(at: usize) -> String {
    let text = "the keeper of the lighthouse writes down what the weather is like, and who came by";
    format!("<p>{text}, on day {at}.</p>").repeat(8) + "<a href=/next>next</a>"
}

/// What a result shows, in words: `usual`, or where it departs from that.
fn in_words(hit: Option<&Hit>, is_followed: bool) -> String {
    let mut words: Vec<String> = Vec::new();
    match hit {
        None => words.push("not found".into()),
        Some(hit) => {
            words.extend(snippet_in_words(hit));
            words.extend(limits_in_words(&hit.limits));
        }
    }
    if !is_followed {
        words.push("links not followed".into());
    }
    if words.is_empty() { "usual".into() } else { words.join(", ") }
}

fn snippet_in_words(hit: &Hit) -> Option<String> {
    let permitted = hit.limits.snippet_chars;
    let Some(snippet) = &hit.snippet else { return Some("no snippet".into()) };
    let chars = snippet.text.chars().count();
    // Cut at a whole word, so no shorter than half of what there is room for.
    match permitted {
        None => assert!(chars >= 120, "{hit:?}"),
        Some(most) => assert!((most as usize).min(240) / 2 <= chars, "{hit:?}"),
    }
    permitted.map(|most| {
        assert!(chars <= most as usize, "{hit:?}");
        format!("snippet {most}")
    })
}

fn limits_in_words(limits: &ShowLimits) -> Vec<String> {
    let mut words = Vec::new();
    match limits.image_preview {
        ImagePreview::Standard => {}
        ImagePreview::None => words.push("no image".into()),
        ImagePreview::Large => words.push("large image".into()),
    }
    words.extend(limits.video_preview_s.map(|seconds| format!("video {seconds}")));
    if limits.translation == Permission::Withheld {
        words.push("no translation".into());
    }
    if limits.image_indexing == Permission::Withheld {
        words.push("no image indexing".into());
    }
    words
}

/// Clause | rules | what a result shows.
const RULES: &str = "
RM-020 | all | usual
RM-020 | ALL, index, follow | usual
RM-020 | all, noindex | not found
RM-021 | noindex | not found
RM-021 | NoIndex | not found
RM-021 | no-index | usual
RM-022 | nofollow | links not followed
RM-022 | follow, nofollow | links not followed
RM-023 | none | not found, links not followed
RM-023 | noindex, nofollow | not found, links not followed
RM-024 | nosnippet | no snippet, video 0
RM-024 | nosnippet, max-image-preview:large | no snippet, large image, video 0
RM-025 | indexifembedded | usual
RM-025 | noindex, indexifembedded | not found
RM-025 | none, indexifembedded | not found, links not followed
RM-026 | max-snippet:0 | no snippet, video 0
RM-026 | max-snippet:1 | snippet 1
RM-026 | max-snippet:20 | snippet 20
RM-026 | max-snippet: 160 | snippet 160
RM-026 | max-snippet:100000 | snippet 100000
RM-026 | max-snippet:-1 | usual
RM-026 | max-snippet:many | usual
RM-026 | max-snippet:20px | usual
RM-026 | max-snippet: | usual
RM-027 | max-image-preview:none | no image
RM-027 | max-image-preview:standard | usual
RM-027 | max-image-preview:LARGE | large image
RM-027 | max-image-preview:huge | usual
RM-028 | max-video-preview:0 | video 0
RM-028 | max-video-preview:30 | video 30
RM-028 | max-video-preview:-1 | usual
RM-028 | max-video-preview:half | usual
RM-029 | notranslate | no translation
RM-030 | noimageindex | no image indexing
RM-031 | unavailable_after:2020-09-21 | not found
RM-031 | unavailable_after: 25-Aug-2007 15:00:00 EST | not found
RM-031 | unavailable_after: 25 Jun 2010 15:00:00 PST | not found
RM-031 | unavailable_after: soon | usual
RM-031 | unavailable_after: 2020-13-01 | usual
RM-032 | noarchive, nocache, nositelinkssearchbox | usual
RM-033 | nosuchrule, max-nothing:1 | usual
RM-040 | max-snippet:20, max-image-preview:large | snippet 20, large image
RM-042 | max-snippet:50, nosnippet | no snippet, video 0
RM-042 | max-snippet:50, max-snippet:20, max-snippet:-1 | snippet 20
";

/// The fields of a line.
fn fields<const N: usize>(line: &'static str) -> [&'static str; N] {
    let fields: Vec<_> = line.split('|').map(str::trim).collect();
    fields.try_into().unwrap_or_else(|_| panic!("{line}"))
}

fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.is_empty())
}

/// Where rules may stand (RM-003, RM-005, XR-001, XR-003), and whether they are for this crawler.
const PLACES: &[(&str, bool)] = &[
    ("<meta name=robots content='RULES'>", true),
    ("<meta name=ComityBot content='RULES'>", true),
    ("<body><p>x<meta name=robots content='RULES'>", true),
    ("RULES", true),
    ("comitybot: RULES", true),
    ("<meta name=otherbot content='RULES'>", false),
    ("<!-- <meta name=robots content='RULES'> -->", false),
    ("otherbot: RULES", false),
];

fn given(at: usize, place: &str, rules: &str) -> Given {
    let placed = place.replace("RULES", rules);
    let title = "<!doctype html><html lang=en><title>Log</title>";
    if placed.starts_with('<') {
        Given { lines: vec![], html: format!("{title}{placed}{}", body(at)) }
    } else {
        Given { lines: vec![placed], html: format!("{title}{}", body(at)) }
    }
}

/// RM-020 to RM-033, and what they are together.
#[tokio::test(start_paused = true)]
async fn rules_in_every_place() {
    let (mut pages, mut expect) = (Vec::new(), Vec::new());
    for line in lines(RULES) {
        let [clause, rules, result] = fields(line);
        for (place, is_ours) in PLACES {
            pages.push(given(pages.len(), place, rules));
            expect.push((if *is_ours { result } else { "usual" }, clause, rules, place));
        }
    }
    let shown = Shown::of(&pages).await;
    let results = shown.results(WORD, T0);
    for (at, (expect, clause, rules, place)) in expect.into_iter().enumerate() {
        let result = in_words(results.get(&at), shown.is_followed(at));
        assert_eq!(result, expect, "{clause}: {rules} in {place}");
    }
}

/// RM-033: a word that is added to the vocabulary needs a line here.
#[test]
fn every_word_of_the_vocabulary_has_a_line() {
    for word in VOCABULARY {
        let names = |line: &str| line.to_lowercase().split([' ', ',', ':']).any(|w| w == word.name);
        assert!(lines(RULES).any(names), "{}", word.name);
    }
}

/// Clause | X-Robots-Tag, its lines divided by a bar | meta tags as name=content, divided likewise | what
/// a result shows. Slashes divide.
const TOGETHER: &str = "
RM-006 | | comitybot=nosnippet | no snippet, video 0
RM-006 | | otherbot=nosnippet / comitybot=notranslate | no translation
RM-025 | | googlebot=noindex,indexifembedded | usual
RM-025 | noindex | comitybot=indexifembedded | not found
RM-040 | | robots=noindex / robots=nofollow | not found, links not followed
RM-041 | | robots=nofollow / comitybot=noindex | not found, links not followed
RM-041 | noimageindex / notranslate | robots=max-snippet:30 | snippet 30, no translation, no image indexing
RM-042 | max-snippet:-1 | robots=max-snippet:50 / comitybot=max-snippet:120 | snippet 50
RM-042 | comitybot: all | robots=noindex | not found
RM-042 | nosnippet | comitybot=max-snippet:100 | no snippet, video 0
RM-042 | max-image-preview:large | robots=max-image-preview:none | no image
RM-042 | max-video-preview:9, max-video-preview:3 | robots=max-video-preview:-1 | video 3
XR-002 | noimageindex / unavailable_after: 25 Jun 2010 15:00:00 PST | | not found
XR-003 | comitybot: nofollow / otherbot: noindex, nofollow | | links not followed
XR-005 | otherbot: noindex, nosnippet, comitybot: notranslate | | no translation
XR-005 | max-snippet:40, otherbot: max-snippet:5 | | snippet 40
";

#[tokio::test(start_paused = true)]
async fn rules_together() {
    let split = |text: &'static str| text.split(" / ").filter(|part| !part.is_empty());
    let mut pages = Vec::new();
    for line in lines(TOGETHER) {
        let [_, headers, metas, _] = fields(line);
        let metas = split(metas).map(|meta| {
            let (name, content) = meta.split_once('=').unwrap();
            format!("<meta name={name} content='{content}'>")
        });
        let html = metas.collect::<String>() + &body(pages.len());
        pages.push(Given { lines: split(headers).map(str::to_owned).collect(), html });
    }
    let shown = Shown::of(&pages).await;
    let results = shown.results(WORD, T0);
    for (at, line) in lines(TOGETHER).enumerate() {
        let [clause, headers, metas, expect] = fields(line);
        let result = in_words(results.get(&at), shown.is_followed(at));
        assert_eq!(result, expect, "{clause}: {headers} {metas}");
    }
}

/// RM-031, RM-040, AM-48: rules | from when on it is not shown, in seconds from 2026-12-05T00:00:00Z.
const DATES: &str = "
unavailable_after: 2026-12-05 | 0
unavailable_after:20261205 | 0
unavailable_after: 2026-12-05T06:00:00Z | 21600
unavailable_after: 2026-12-05T00:00:00+01:00 | -3600
unavailable_after: Sat, 05 Dec 2026 10:20:30 GMT | 37230
unavailable_after: 05 Dec 2026 10:20:30 -0330 | 49830
unavailable_after: Saturday, 05-Dec-26 10:20:30 GMT | 37230
unavailable_after: 5-Dec-2026 15:00:00 EST | 72000
unavailable_after: 5 Dec 2026 15:00:00 PST | 82800
unavailable_after: 2026-12-05, unavailable_after: 2026-12-06 | 0
max-snippet:20, unavailable_after: 2026-12-06 | 86400
";

/// `date -u -d 2026-12-05 +%s`.
const DEC_5_MS: i64 = 1_796_428_800_000;

/// Nothing is fetched and nothing swept between the two questions: the day alone decides.
#[tokio::test(start_paused = true)]
async fn not_shown_after_its_date() {
    let (mut pages, mut expect) = (Vec::new(), Vec::new());
    for line in lines(DATES) {
        let [rules, after_s] = fields(line);
        for (place, is_ours) in PLACES {
            pages.push(given(pages.len(), place, rules));
            expect.push((rules, place, *is_ours, after_s.parse::<i64>().unwrap()));
        }
    }
    let shown = Shown::of(&pages).await;
    for (at, (rules, place, is_ours, after_s)) in expect.into_iter().enumerate() {
        let end_ms = DEC_5_MS + after_s * 1000;
        let is_shown = |ms| shown.results(WORD, Timestamp::from_millis(ms)).contains_key(&at);
        assert!(is_shown(end_ms - 1), "{rules} in {place}");
        assert_eq!(is_shown(end_ms), !is_ours, "{rules} in {place}");
    }
}

/// Clause | body, in which ✓ stands for words that may be shown and ✗ for words that may not.
const HIDDEN: &str = "
SN-001 | ✓<span data-nosnippet>✗</span>✓
SN-001 | ✓<div data-nosnippet>✗</div>✓
SN-001 | ✓<section data-nosnippet>✗</section>✓
SN-001 | ✓<div data-nosnippet=true>✗</div>✓<div data-nosnippet='false'>✗</div>✓
SN-001 | ✓<DIV Data-NoSnippet=''>✗</DIV>✓
SN-001 | ✓<p data-nosnippet>✓</p><article data-nosnippet>✓</article><div nosnippet>✓</div>
SN-002 | ✓<div data-nosnippet>✗<p>✗</p>✗
SN-002 | ✓<p>✓<span data-nosnippet>✗</p>✓
SN-003 | <p>✓ <span data-nosnippet>✗</span> ✓</p>
SN-003 | ✓<mytag data-nosnippet>✓</mytag><my-div data-nosnippet>✓</my-div>
SN-003 | ✓<div data-nosnippet><p>✗<ul><li>✗</li><li>✗</ul>✗</div>✓
SN-003 | ✓<div data-nosnippet><div>✗</div>✗<span>✗</span></div>✓
SN-003 | <div data-nosnippet>✗<mytag>✗</mytag></div>✓
SN-003 | <div data-nosnippet>✗<script>document.body.append('✗')</script></div>✓
SN-006 | ✓<div data-nosnippet>✗ <a href=/next>✗</a></div>
";

/// A hidden word finds the page and is not shown, the link beside it is followed.
#[tokio::test(start_paused = true)]
async fn what_data_nosnippet_covers() {
    let mut pages = Vec::new();
    for line in lines(HIDDEN) {
        let [_, html] = fields(line);
        let words = html.replace('✓', " lighthouse keeper ").replace('✗', " smuggler cellar ");
        let next = if html.contains("/next") { "" } else { "<a href=/next></a>" };
        let html = format!("<title>Log {}</title><body>{words}{next}", pages.len());
        pages.push(Given { lines: vec![], html });
    }
    let shown = Shown::of(&pages).await;
    let (seen, hidden) = (shown.results(WORD, T0), shown.results("smuggler", T0));
    for (at, line) in lines(HIDDEN).enumerate() {
        let Given { html, .. } = &pages[at];
        let snippet = |hit: &Hit| hit.snippet.as_ref().map(|s| s.text.clone()).unwrap_or_default();
        let text = snippet(&seen[&at]);
        let count = |text: &str| (text.matches("keeper").count(), text.matches("cellar").count());
        let (keepers, cellars) = count(html);
        assert_eq!(count(&text), (keepers, 0), "{line}: {text}");
        assert_eq!(hidden.contains_key(&at), cellars > 0, "SN-006: {line}");
        assert!(hidden.get(&at).is_none_or(|hit| count(&snippet(hit)).1 == 0), "{line}");
        assert!(shown.is_followed(at), "SN-006: {line}");
    }
}

/// Hands on the structured data of every page.
struct Structured;

impl Extractor for Structured {
    type Item = Value;

    fn name(&self) -> &str {
        "structured"
    }

    fn extract(&self, page: &PageView<'_>, out: &mut Out<'_, Value>) -> Result<(), ExtractError> {
        out.item(json!({ "url": page.url.as_str(), "data": page.content.structured_data }))
    }
}

#[derive(Clone, Default)]
struct Items(Arc<Mutex<Vec<Value>>>);

impl Sink for Items {
    fn put<'a>(&'a self, items: &'a [Item]) -> Answering<'a, Receipt> {
        Box::pin(async move {
            self.0.lock().unwrap().extend(items.iter().map(|item| item.value.clone()));
            Ok(Receipt::all(items))
        })
    }
}

/// SN-005: limits on text do not touch structured data, nor does what hides text; and what stands in
/// the data is no text of the page, so that no result shows it.
#[tokio::test(start_paused = true)]
async fn structured_data_go_their_own_way() {
    let data = "{\"@type\":\"Recipe\",\"name\":\"saffron\"}";
    let script = format!("<script type=application/ld+json>{data}</script>");
    let hidden = format!("<div data-nosnippet>{script}</div>");
    let cases = [
        ("", &script, "usual"),
        ("", &hidden, "usual"),
        ("max-snippet:20", &hidden, "snippet 20"),
        ("nosnippet", &script, "no snippet, video 0"),
    ];
    let pages = cases.iter().enumerate().map(|(at, (rules, script, _))| {
        let html = format!("<meta name=robots content='{rules}'>{script}{}", body(at));
        Given { lines: vec![], html }
    });
    let pages: Vec<_> = pages.collect();
    let (items, mut hooks) = (Items::default(), Hooks::default());
    hooks.extractors.add(Structured);
    hooks.extractors.send_to(Arc::new(items.clone()));
    let shown = Shown::with(&pages, hooks).await;
    let results = shown.results(WORD, T0);
    assert!(shown.results("saffron", T0).is_empty());
    for (at, (_, script, expect)) in cases.iter().enumerate() {
        assert_eq!(in_words(results.get(&at), shown.is_followed(at)), *expect, "{script}");
        let item = json!({ "url": address(at), "data": [data] });
        assert!(items.0.lock().unwrap().contains(&item), "{script}");
    }
}
