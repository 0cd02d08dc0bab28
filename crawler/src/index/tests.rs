//! The index in a directory of its own: what is found, what is shown, what is refused.

use std::path::Path;

use comity_compliance::Timestamp;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

mod finding;

const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

fn document(key: u8, title: &str, text: &str) -> Document {
    Document {
        key: [key; 16],
        url: format!("https://example.org/{key}"),
        site: "example.org".into(),
        title: title.into(),
        headings: String::new(),
        text: text.into(),
        snippet_text: None,
        language: "en".into(),
        canonical: None,
        fetched_at_ms: 1,
        dated_ms: None,
        links: vec![],
        embeds: vec![],
        hidden_embeds: vec![],
        structured: vec![],
        expires_at_ms: None,
        form: Form::Full,
        limits: ShowLimits::default(),
    }
}

fn put(document: Document) -> IndexChange {
    IndexChange::Put(Box::new(document))
}

/// An index with these documents, and a searcher on it.
fn index_of(documents: Vec<Document>) -> (TempDir, Searcher) {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::open_or_create(dir.path()).unwrap();
    let changes: Vec<_> = documents.into_iter().map(put).collect();
    writer.apply(&changes).unwrap();
    writer.commit().unwrap();
    writer.close().unwrap();
    let searcher = Searcher::open(dir.path()).unwrap();
    (dir, searcher)
}

/// The keys of what is found, best first.
#[track_caller]
fn found(searcher: &Searcher, words: &str) -> Vec<u8> {
    let hits = searcher.search(words, NOW, 10, 0).unwrap();
    let keys = hits.hits.iter().map(|hit| hit.url.rsplit('/').next().unwrap().parse().unwrap());
    let keys: Vec<u8> = keys.collect();
    assert_eq!(keys.len(), hits.total, "{words}");
    keys
}

#[test]
fn words_find_documents() {
    let (_dir, searcher) = index_of(vec![
        document(1, "Event loop", "Call asyncio.gather(*tasks) to run awaitables concurrently."),
        document(2, "Paths", "os.path.join joins; gather your asyncio notes. path os join"),
        document(3, "The Who", "To be or not to be: the who of it"),
        document(4, "Café menu", "Crème brûlée, running dogs"),
        document(5, "东京指南", "我住在东京的新宿区"),
        document(6, "Other", "mentions the event loop only in passing, in a longer sentence"),
    ]);
    let cases: [(&str, &[u8]); 25] = [
        ("asyncio.gather", &[1]),
        ("asyncio gather", &[1, 2]),
        ("ASYNCIO", &[1, 2]),
        ("os.path.join", &[2]),
        ("\"os path join\"", &[2]),
        ("event loop", &[1, 6]),
        ("\"event loop\"", &[1, 6]),
        ("\"loop event\"", &[]),
        ("the who", &[3]),
        ("to be or not to be", &[3]),
        ("cafe", &[4]),
        ("CAFÉ", &[4]),
        ("dog run", &[4]),
        ("东京", &[5]),
        ("京东", &[]),
        ("nothing here", &[]),
        ("asyncio nothing", &[1, 2]),
        ("asyncio -gather", &[]),
        ("asyncio -tasks", &[2]),
        ("", &[]),
        ("  !?* ", &[]),
        ("dogs AND ) ( \" title:", &[]),
        ("dogs ) ( + - * ~ ^ [ ] { } \\ : \"", &[4]),
        ("-dogs", &[1, 2, 3, 5, 6]),
        ("-\"event loop\" -dogs", &[2, 3, 5]),
    ];
    for (words, expect) in cases {
        let mut keys = found(&searcher, words);
        if !words.contains("event") {
            keys.sort_unstable();
        }
        assert_eq!(keys, expect, "{words}");
    }
}

#[test]
fn answers_come_in_pages() {
    let documents = (0..25).map(|key| document(key, "same", "words"));
    let (_dir, searcher) = index_of(documents.collect());
    let mut seen = std::collections::HashSet::new();
    for (offset, expect) in [(0, 10), (10, 10), (20, 5), (30, 0), (usize::MAX, 0)] {
        let hits = searcher.search("words", NOW, 10, offset).unwrap();
        assert_eq!((hits.total, hits.hits.len()), (25, expect));
        seen.extend(hits.hits.into_iter().map(|hit| hit.url));
    }
    assert_eq!(seen.len(), 25);
    let none = searcher.search("words", NOW, 0, 0).unwrap();
    assert_eq!((none.total, none.hits.len()), (25, 0));
}

#[test]
fn changes_are_made_once_and_survive() {
    let dir = tempfile::tempdir().unwrap();
    let changes = [put(document(1, "old", "first")), put(document(2, "stays", "first"))];
    let again = [put(document(1, "new", "second")), put(document(1, "new", "second"))];
    let withdraw = [IndexChange::Withdraw { key: [2; 16] }, IndexChange::Withdraw { key: [9; 16] }];
    let mut writer = IndexWriter::open_or_create(dir.path()).unwrap();
    writer.apply(&changes).unwrap();
    writer.apply(&changes).unwrap();
    writer.commit().unwrap();
    let searcher = Searcher::open(dir.path()).unwrap();
    assert_eq!(found(&searcher, "first").len(), 2);

    writer.apply(&again).unwrap();
    writer.commit().unwrap();
    searcher.refresh().unwrap();
    assert_eq!(found(&searcher, "first"), [2]);
    assert_eq!(found(&searcher, "second"), [1]);

    writer.apply(&withdraw).unwrap();
    writer.apply(&[put(document(3, "lost", "first"))]).unwrap();
    drop(writer);
    searcher.refresh().unwrap();
    assert_eq!(found(&searcher, "first"), [2], "not committed");

    let mut writer = IndexWriter::open_or_create(dir.path()).unwrap();
    writer.apply(&withdraw).unwrap();
    writer.apply(&withdraw).unwrap();
    writer.commit().unwrap();
    searcher.refresh().unwrap();
    assert_eq!(found(&searcher, "first"), [0_u8; 0]);
    assert_eq!(found(&searcher, "second"), [1]);
}

#[test]
fn changes_travel_as_bytes() {
    let mut limited = document(1, "t", "x");
    limited.limits.snippet_chars = Some(20);
    limited.expires_at_ms = Some(5);
    limited.canonical = Some("https://example.org/c".into());
    for change in [put(limited), IndexChange::Withdraw { key: [7; 16] }] {
        let bytes = postcard::to_allocvec(&change).unwrap();
        assert_eq!(postcard::from_bytes::<IndexChange>(&bytes).unwrap(), change);
    }
}

#[test]
fn what_may_not_appear_is_not_found() {
    let now = NOW.as_millis();
    let mut documents = Vec::new();
    // (form, expiry, whether it is found at `NOW`)
    let cases = [
        (Form::Full, None, true),
        (Form::Full, Some(now + 1), true),
        (Form::Full, Some(now), false),
        (Form::Full, Some(now - 1), false),
        (Form::Full, Some(0), false),
        (Form::Full, Some(i64::MIN), false),
        (Form::Full, Some(i64::MAX), true),
        (Form::Embedded, None, false),
        (Form::Bare, None, true),
    ];
    let mut expect = Vec::new();
    for (key, (form, expires_at_ms, is_found)) in (1..).zip(cases) {
        let mut document = document(key, "word", "word");
        document.form = form;
        document.expires_at_ms = expires_at_ms;
        documents.push(document);
        expect.extend(is_found.then_some(key));
    }
    let (_dir, searcher) = index_of(documents);
    let mut keys = found(&searcher, "word");
    keys.sort_unstable();
    assert_eq!(keys, expect, "RM-021, RM-031, RM-025, RT-049");
    let before = searcher.search("word", Timestamp::from_millis(i64::MIN), 10, 0).unwrap();
    assert_eq!(
        before.total, 7,
        "all that may be shown and have not expired at the beginning of time"
    );
    let after = searcher.search("word", Timestamp::from_millis(i64::MAX - 1), 10, 0).unwrap();
    assert_eq!(after.total, 3);
}

#[test]
fn limits_come_back_with_a_hit() {
    let mut limited = document(1, "word", "word");
    limited.limits = ShowLimits {
        snippet_chars: Some(0),
        image_preview: ImagePreview::Standard,
        video_preview_s: Some(3),
        translation: Permission::Withheld,
        image_indexing: Permission::Withheld,
    };
    limited.canonical = Some("https://example.org/c".into());
    let expect = limited.clone();
    let (_dir, searcher) = index_of(vec![limited, document(2, "other", "other")]);
    let hits = searcher.search("word", NOW, 10, 0).unwrap();
    let hit = &hits.hits[0];
    assert_eq!((hit.limits, &hit.canonical), (expect.limits, &expect.canonical));
    assert_eq!(hit.snippet, None, "max-snippet:0 is nosnippet");
    let hits = searcher.search("other", NOW, 10, 0).unwrap();
    assert_eq!(hits.hits[0].limits, ShowLimits::default());
}

#[test]
fn data_nosnippet_text_finds_but_is_not_shown() {
    let html = "<title>Soup</title><p>Opening hours are nine to five.\
        <div data-nosnippet>secret recipe</div>";
    let url = url::Url::parse("https://example.org/1").unwrap();
    let page = crate::page::scan(html.as_bytes(), Some("text/html"), &url, &Default::default());
    let mut soup = document(1, &page.title.unwrap(), &page.text);
    soup.snippet_text = Some(page.snippet_text);
    let (_dir, searcher) = index_of(vec![soup]);
    let hits = searcher.search("secret recipe", NOW, 10, 0).unwrap();
    let snippet = hits.hits[0].snippet.clone().unwrap();
    assert_eq!(snippet.text, "Opening hours are nine to five.", "SN-006");
    assert!(snippet.highlights.is_empty());
}

#[test]
fn snippets_are_cut_around_the_words() {
    let filler = "Lorem ipsum dolor sit amet consectetur. ".repeat(20);
    let text = format!("{filler}Here asyncio.gather runs tasks. {filler}");
    // (text, words, limit, expected text, expected highlights)
    let cases = [
        ("short gather text", "gather", None, "short gather text", vec!["gather"]),
        (
            "Gathering and gathers",
            "gather",
            None,
            "Gathering and gathers",
            vec!["Gathering", "gathers"],
        ),
        ("ééééééééé", "é", Some(5), "ééééé", vec![]),
        ("one two three four", "two", Some(20), "one two three four", vec!["two"]),
        ("one two three four five six", "two", Some(12), "…two three…", vec!["two"]),
        ("one two three four five six", "two", Some(0), "", vec![]),
        ("a b", "b", Some(1), "b", vec!["b"]),
    ];
    for (text, words, limit, expect, highlighted) in cases {
        let mut one = document(1, words, text);
        one.limits.snippet_chars = limit;
        let (_dir, searcher) = index_of(vec![one]);
        let hits = searcher.search(words, NOW, 1, 0).unwrap();
        let snippet = hits.hits[0].snippet.clone();
        let shown = snippet.as_ref().map_or("", |snippet| snippet.text.as_str());
        assert_eq!(shown, expect, "{text} {limit:?}");
        let highlights = snippet.iter().flat_map(|snippet| snippet.highlights.clone());
        let marked: Vec<_> = highlights.map(|at| &shown[at]).collect();
        assert_eq!(marked, highlighted, "{text}");
    }
    let (_dir, searcher) = index_of(vec![document(1, "t", &text)]);
    let snippet =
        searcher.search("tasks gather", NOW, 1, 0).unwrap().hits[0].snippet.clone().unwrap();
    assert!(snippet.text.starts_with("…Here asyncio.gather runs tasks. Lorem"), "{snippet:?}");
    assert!(snippet.text.ends_with('…'), "{snippet:?}");
}

/// A heading says once more what stands above the snippet. One line, one case: the title, the text,
/// what is looked for, and the snippet.
#[test]
fn snippets_do_not_repeat_the_title() {
    for (title, text, words, expect) in [
        ("Plums — A book", "Plums¶\nHow plums grow.", "plums", "…How plums grow."),
        ("Plums — A book", "Plums¶\nHow trees grow.", "plums", "…How trees grow."),
        ("Plums — A book", "Fruit\nPlums #\nplums grow.", "plums", "…plums grow."),
        ("Plums — A book", "Plums\nHow trees grow.", "book", "…How trees grow."),
        ("Plums", "Plums", "plums", "Plums"),
        ("Plums", "Plums\n", "plums", "Plums"),
        ("A book", "Plums\nHow plums grow.", "plums", "Plums\nHow plums grow."),
        ("Plums", "Plums and pears\nthere.", "plums", "Plums and pears\nthere."),
        ("", "Plums\nthere.", "plums", "Plums\nthere."),
    ] {
        let (_dir, searcher) = index_of(vec![document(1, title, text)]);
        let hits = searcher.search(words, NOW, 1, 0).unwrap().hits;
        assert_eq!(hits[0].snippet.as_ref().unwrap().text, expect, "{title} {text}");
    }
}

#[test]
fn an_index_that_is_not_there_says_so() {
    let dir = tempfile::tempdir().unwrap();
    for dir in [dir.path(), &dir.path().join("nowhere")] {
        let error = Searcher::open(dir).err().unwrap();
        assert!(matches!(error, IndexError::Missing { .. }), "{error:?}");
        assert!(error.to_string().contains("`comity crawl`"), "{error}");
    }
}

#[test]
fn an_index_in_use_is_not_written_twice() {
    let dir = tempfile::tempdir().unwrap();
    let first = IndexWriter::open_or_create(dir.path()).unwrap();
    let error = IndexWriter::open_or_create(dir.path()).err().unwrap();
    assert!(matches!(error, IndexError::Locked { .. }), "{error:?}");
    drop(first);
    assert!(IndexWriter::open_or_create(dir.path()).is_ok());
}

/// What is done to an index directory, in words and in deed.
type Harm = (&'static str, fn(&Path));

#[test]
fn a_damaged_index_is_an_error_and_never_an_empty_one() {
    let harms: [Harm; 4] = [
        ("meta.json emptied", |dir| std::fs::write(dir.join("meta.json"), "").unwrap()),
        ("meta.json is not JSON", |dir| std::fs::write(dir.join("meta.json"), "{oops").unwrap()),
        ("meta.json gone", |dir| std::fs::remove_file(dir.join("meta.json")).unwrap()),
        ("segments gone", |dir| {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap();
                if !name.starts_with('.') && name != "meta.json" {
                    std::fs::remove_file(path).unwrap();
                }
            }
        }),
    ];
    for (harm, harm_it) in harms {
        let (dir, searcher) = index_of(vec![document(1, "t", "x")]);
        drop(searcher);
        harm_it(dir.path());
        let reading = Searcher::open(dir.path()).err();
        let reading = reading.unwrap_or_else(|| panic!("{harm}: opened for reading"));
        let is_plain = matches!(reading, IndexError::Damaged { .. } | IndexError::Missing { .. });
        assert!(is_plain, "{harm}: {reading:?}");
        let writing = IndexWriter::open_or_create(dir.path()).err();
        let writing = writing.unwrap_or_else(|| panic!("{harm}: opened for writing"));
        assert!(matches!(writing, IndexError::Damaged { .. }), "{harm}: {writing:?}");
    }
}

#[test]
fn another_programs_index_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let schema = tantivy::schema::Schema::builder().build();
    tantivy::Index::create_in_dir(dir.path(), schema).unwrap();
    let reading = Searcher::open(dir.path()).err().unwrap();
    let writing = IndexWriter::open_or_create(dir.path()).err().unwrap();
    for error in [reading, writing] {
        assert!(matches!(error, IndexError::OtherVersion { .. }), "{error:?}");
    }
}

fn wanted(words: &str, analyzer: &mut tantivy::tokenizer::TextAnalyzer) -> query::Wanted {
    let english = language::Language::of_code("en");
    let languages = &[None, english];
    let common = &mut analyzer::Common::of(english);
    query::Wanted::parse(words, &mut query::Reading { analyzer, languages, common })
}

proptest! {
    #[test]
    fn a_snippet_never_exceeds_its_limit(
        text in "[a-cé☺\n .…]{0,120}",
        title in "[a-c ]{0,4}",
        words in "[a-cé]{1,2}( [a-c]{1,2}){0,2}",
        limit in 0_usize..60,
    ) {
        let mut analyzer = analyzer::build();
        let wanted = wanted(&words, &mut analyzer);
        let words = (&wanted.words(), None);
        let snippet = snippet::Snippet::cut((&title, &text), words, &mut analyzer, limit);
        let Some(snippet) = snippet else {
            prop_assert!(limit == 0 || text.trim().is_empty());
            return Ok(());
        };
        prop_assert!(snippet.text.chars().count() <= limit, "{:?}", snippet);
        prop_assert!(!snippet.text.trim().is_empty());
        let shown = snippet.text.strip_prefix('…').unwrap_or(&snippet.text);
        let shown = shown.strip_suffix('…').unwrap_or(shown);
        prop_assert!(text.contains(shown), "{:?}", snippet);
        for at in snippet.highlights {
            prop_assert!(snippet.text.get(at).is_some_and(|word| !word.is_empty()));
        }
    }
}

/// Whatever is typed is answered, by an index of several files with words of many kinds.
#[test]
fn nothing_typed_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = IndexWriter::open_or_create(dir.path()).unwrap();
    for key in 0..4 {
        let texts = ["a b a c", "b a -a site:x", "c b a \u{301} é 东京", "a a a b"];
        writer.apply(&[put(document(key, "a b", texts[usize::from(key)]))]).unwrap();
        writer.commit().unwrap();
    }
    let searcher = Searcher::open(dir.path()).unwrap();
    proptest!(|(words in "(\\PC{0,40}|[-\" abc:]{0,30}|(-?(\"[abc ]{1,6}\"|[abc]|site:[a-z.]{0,4}) ){0,5})")| {
        let hits = searcher.search(&words, NOW, 10, 0);
        prop_assert!(hits.is_ok(), "{words}: {hits:?}");
    });
}

/// A lock that another process has, and one that cannot be made, as in a directory that cannot be
/// written: waiting helps against the first only.
#[test]
fn locks_that_fail() {
    use tantivy::TantivyError::LockFailure;
    use tantivy::directory::error::LockError;
    let dir = Path::new("data/index");
    let busy = IndexError::engine(dir, LockFailure(LockError::LockBusy, None));
    assert!(busy.to_string().contains("another crawl"), "{busy}");
    let read_only = std::io::Error::from(std::io::ErrorKind::ReadOnlyFilesystem);
    let refused = LockFailure(LockError::wrap_io_error(read_only), None);
    let refused = IndexError::engine(dir, refused).to_string();
    assert!(refused.contains("permissions"), "{refused}");
}
