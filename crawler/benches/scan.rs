//! What reading one page costs: the whole scan, and the marks of its text by which copies are
//! found. The page is one of a made-up web: 28 KB, 60 links.

use std::hint::black_box;

use comity::duplicates::{SimHash, Words, content_hash};
use comity::page::{ScanLimits, scan};
use criterion::{Criterion, criterion_group, criterion_main};
use url::Url;

const PAGE: &[u8] = include_bytes!("data/page.html");

fn pages(criterion: &mut Criterion) {
    let url = Url::parse("https://example.com/a/b.html").expect("a URL");
    let (limits, kind) = (ScanLimits::default(), Some("text/html; charset=utf-8"));
    criterion.bench_function("scan", |b| b.iter(|| scan(black_box(PAGE), kind, &url, &limits)));
    let page = scan(PAGE, kind, &url, &limits);
    criterion.bench_function("marks of the text", |b| {
        b.iter(|| {
            let words = Words::of(black_box(&page.text));
            (content_hash(&[&words]), SimHash::of(&words))
        });
    });
}

criterion_group!(benches, pages);
criterion_main!(benches);
