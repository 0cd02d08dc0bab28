//! What indexing a page costs: five hundred pages through our writer, to a commit, and beside it the
//! engine alone with its own plain tokenizer and the same text, which is the floor, and what of that
//! is for quotes and for phrases. Each page is the made-up one with its words in another order.

use std::hint::black_box;

use comity::index::{Document, Form, IndexChange, IndexWriter, ShowLimits};
use comity::page::{ScanLimits, scan};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tantivy::schema::{IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, TantivyDocument};
use url::Url;

const PAGE: &[u8] = include_bytes!("data/page.html");
const PAGES: u32 = 500;

/// The page's title, and its text with the words in an order of their own for each number.
fn text(number: u32) -> (String, String) {
    let url = Url::parse("https://example.com/a/b.html").expect("a URL");
    let page = scan(PAGE, Some("text/html"), &url, &ScanLimits::default());
    let mut words: Vec<&str> = page.text.split_whitespace().collect();
    let turn = number as usize * 37 % words.len();
    words.rotate_left(turn);
    (page.title.unwrap_or_default(), words.join(" "))
}

fn document(number: u32) -> IndexChange {
    let mut key = [0; 16];
    key[..4].copy_from_slice(&number.to_be_bytes());
    let (title, text) = text(number);
    IndexChange::Put(Box::new(Document {
        key,
        url: format!("https://example.com/{number}"),
        site: "example.com".into(),
        title,
        headings: String::new(),
        text,
        snippet_text: None,
        language: "en".into(),
        canonical: None,
        fetched_at_ms: 0,
        dated_ms: None,
        expires_at_ms: None,
        form: Form::Full,
        limits: ShowLimits::default(),
        links: (0..50).map(|link| u64::from(number * 31 + link)).collect(),
        embeds: vec![],
        hidden_embeds: vec![],
        structured: vec![],
    }))
}

fn ours(changes: &[IndexChange]) {
    let dir = tempfile::tempdir().expect("a directory");
    let mut writer = IndexWriter::open_or_create(dir.path()).expect("an index");
    writer.apply(black_box(changes)).expect("documents");
    writer.commit().expect("a commit");
    writer.close().expect("an end");
}

/// What the engine is asked to keep, when it works alone.
struct Kept {
    told: &'static str,
    places: IndexRecordOption,
    is_stored: bool,
}

const KEPT: [Kept; 3] = [
    Kept {
        told: "the engine alone",
        places: IndexRecordOption::WithFreqsAndPositions,
        is_stored: true,
    },
    Kept {
        told: "the engine alone, nothing to be quoted",
        places: IndexRecordOption::WithFreqsAndPositions,
        is_stored: false,
    },
    Kept {
        told: "the engine alone, nothing to be quoted, no phrases",
        places: IndexRecordOption::WithFreqs,
        is_stored: false,
    },
];

fn engine_alone(texts: &[(String, String)], kept: &Kept) {
    let dir = tempfile::tempdir().expect("a directory");
    let words = TextFieldIndexing::default().set_index_option(kept.places).set_tokenizer("default");
    let mut options = TextOptions::default().set_indexing_options(words);
    if kept.is_stored {
        options = options.set_stored();
    }
    let mut schema = Schema::builder();
    let title = schema.add_text_field("title", options.clone());
    let text = schema.add_text_field("text", options);
    let index = Index::create_in_dir(dir.path(), schema.build()).expect("an index");
    let mut writer = index.writer_with_num_threads(1, 50_000_000).expect("a writer");
    for (its_title, its_text) in black_box(texts) {
        let mut document = TantivyDocument::default();
        document.add_text(title, its_title);
        document.add_text(text, its_text);
        writer.add_document(document).expect("a document");
    }
    writer.commit().expect("a commit");
    writer.wait_merging_threads().expect("an end");
}

fn indexing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("500 pages");
    group.throughput(Throughput::Elements(PAGES.into())).sample_size(10);
    let changes: Vec<_> = (0..PAGES).map(document).collect();
    let texts: Vec<_> = (0..PAGES).map(text).collect();
    group.bench_function("ours", |b| {
        b.iter_batched(|| (), |()| ours(&changes), BatchSize::PerIteration)
    });
    for kept in &KEPT {
        group.bench_function(kept.told, |b| {
            b.iter_batched(|| (), |()| engine_alone(&texts, kept), BatchSize::PerIteration);
        });
    }
    group.finish();
}

criterion_group!(benches, indexing);
criterion_main!(benches);
