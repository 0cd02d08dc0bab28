//! Content codings: every one that is offered, stacked, broken, and as a bomb.

use async_compression::tokio::write::{
    BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder,
};
use tokio::io::AsyncWriteExt as _;

use super::server::{Manner, Server};
use super::*;
use crate::net::{Completeness, PartialCause};

async fn coded(coding: &str, data: &[u8]) -> Vec<u8> {
    macro_rules! encode {
        ($encoder:ident) => {{
            let mut encoder = $encoder::new(Vec::new());
            encoder.write_all(data).await.unwrap();
            encoder.shutdown().await.unwrap();
            encoder.into_inner()
        }};
    }
    match coding {
        "gzip" | "x-gzip" => encode!(GzipEncoder),
        "deflate" => encode!(ZlibEncoder),
        "raw" => encode!(DeflateEncoder),
        "br" => encode!(BrotliEncoder),
        "zstd" => encode!(ZstdEncoder),
        _ => data.to_vec(),
    }
}

async fn serve(coding: &str, body: &[u8]) -> Server {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    Server::start(Manner::Say([head.as_bytes(), body].concat())).await
}

fn page() -> Vec<u8> {
    (0..2000).flat_map(|n| format!("<p>line {n}</p>\n").into_bytes()).collect()
}

#[tokio::test]
async fn every_offered_coding_is_decoded() {
    let page = page();
    for (header, applied) in [
        ("identity", &[][..]),
        ("gzip", &["gzip"]),
        ("x-gzip", &["gzip"]),
        ("deflate", &["deflate"]),
        ("deflate", &["raw"]),
        ("br", &["br"]),
        ("zstd", &["zstd"]),
        ("gzip, br", &["gzip", "br"]),
        ("deflate, gzip", &["raw", "gzip"]),
        ("zstd, gzip", &["zstd", "gzip"]),
    ] {
        let mut body = page.clone();
        for coding in applied {
            body = coded(coding, &body).await;
        }
        let reply = get(&serve(header, &body).await.url(), &patient()).await.unwrap();
        assert!(reply.body == page, "{header} {applied:?}");
        assert_eq!(reply.completeness, Completeness::Whole, "{header}");
        assert_eq!(reply.wire_bytes, body.len() as u64, "{header}");
    }
}

#[tokio::test]
async fn two_zstd_frames_are_one_body() {
    let body = [coded("zstd", b"one ").await, coded("zstd", b"two").await].concat();
    let reply = get(&serve("zstd", &body).await.url(), &patient()).await.unwrap();
    assert_eq!(reply.body, "one two");
}

/// An empty body is no broken gzip.
#[tokio::test]
async fn an_empty_body_is_in_no_coding() {
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let reply = get(&serve(coding, b"").await.url(), &patient()).await.unwrap();
        assert_eq!((reply.body.len(), reply.completeness), (0, Completeness::Whole), "{coding}");
    }
}

#[tokio::test]
async fn broken_codings_are_errors() {
    let mut flipped = coded("gzip", &page()).await;
    let middle = flipped.len() / 2;
    flipped.iter_mut().skip(middle).take(64).for_each(|byte| *byte ^= 0x55);
    for (coding, body) in [
        ("gzip", b"<html>not gzip".to_vec()),
        ("gzip", flipped),
        ("deflate", b"\xff\xff\xff\xff\xff\xff".to_vec()),
        ("br", b"\xff\xff\xff\xff\xff\xff".to_vec()),
        ("zstd", b"<html>not zstd".to_vec()),
        ("compress", b"x".to_vec()),
        ("gzip, gzip, gzip", b"x".to_vec()),
    ] {
        let result = get(&serve(coding, &body).await.url(), &patient()).await;
        assert_eq!(code(&result), "coding", "{coding}: {result:?}");
    }
}

/// The peer stops within the coding: what could be decoded is kept.
#[tokio::test]
async fn cut_codings_are_partial() {
    for coding in ["gzip", "deflate", "br", "zstd"] {
        // Random enough that half of it decodes to something.
        let page: Vec<u8> =
            (0u32..60_000).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let whole = coded(coding, &page).await;
        let half = &whole[..whole.len() / 2];
        let framed = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
            whole.len()
        );
        let cut = Server::start(Manner::Say([framed.as_bytes(), half].concat())).await;
        for (server, cause) in
            [(cut, PartialCause::Cut), (serve(coding, half).await, PartialCause::Coding)]
        {
            let reply = get(&server.url(), &patient()).await.unwrap();
            assert_eq!(reply.completeness, Completeness::Partial(cause), "{coding}");
            assert!(page.starts_with(&reply.body), "{coding}");
            assert_eq!(reply.wire_bytes, half.len() as u64, "{coding}");
        }
    }
}

#[tokio::test]
async fn bombs_stop_at_the_limit() {
    let zeros = vec![0; 20 * 1024 * 1024];
    for coding in ["gzip", "br", "zstd"] {
        let bomb = coded(coding, &zeros).await;
        let server = serve(coding, &bomb).await;
        let reply = get(&server.url(), &patient()).await.unwrap();
        assert_eq!(reply.completeness, Completeness::Truncated, "{coding}");
        assert_eq!(reply.body.len(), short().limits.body_bytes, "{coding}");

        let mut terms = Terms::default();
        terms.limits.body_bytes = usize::MAX;
        let result = get(&server.url(), &terms).await;
        assert_eq!(code(&result), "expansion", "{coding}");
    }
}

/// Exactly the limit is whole, one byte more is not.
#[tokio::test]
async fn the_limit_is_exact() {
    for coding in ["identity", "gzip"] {
        for (extra, expect) in [(0, Completeness::Whole), (1, Completeness::Truncated)] {
            let body = coded(coding, &vec![b'x'; 1000 + extra]).await;
            let mut terms = patient();
            terms.limits.body_bytes = 1000;
            let reply = get(&serve(coding, &body).await.url(), &terms).await.unwrap();
            assert_eq!((reply.body.len(), reply.completeness), (1000, expect), "{coding}");
        }
    }
}

/// A stream of empty deflate blocks decodes to nothing for ever.
#[tokio::test]
async fn data_that_decodes_to_nothing_ends() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n\x78\x9c".to_vec();
    let empty_block = [0x00, 0x00, 0x00, 0xff, 0xff].repeat(4096);
    let server = Server::start(Manner::Repeat(head, empty_block, Duration::ZERO)).await;
    let reply = get(&server.url(), &patient()).await.unwrap();
    assert_eq!((reply.body.len(), reply.completeness), (0, Completeness::Truncated));
    assert!(reply.wire_bytes < 1_000_000, "{}", reply.wire_bytes);
}
