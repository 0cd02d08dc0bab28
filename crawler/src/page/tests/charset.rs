//! Character sets and kinds of body.

use super::*;

#[test]
fn character_sets() {
    let late = [
        b"<!doctype html><!--".as_slice(),
        &[b'x'; 900],
        b"--><meta charset=\"windows-1251\"><title>\xcc\xe8\xf0</title>",
    ]
    .concat();
    let beyond =
        [&[b' '; 1_024], b"<meta charset=windows-1251><title>e</title>".as_slice()].concat();
    let utf16 = |bom: &[u8], encode: fn(u16) -> [u8; 2]| {
        let units = "<title>é✓</title>".encode_utf16().flat_map(encode);
        [bom, &units.collect::<Vec<_>>()].concat()
    };
    let utf16_le = utf16(b"\xff\xfe", u16::to_le_bytes);
    let utf16_be = utf16(b"\xfe\xff", u16::to_be_bytes);
    let cases: [(Option<&str>, &[u8], &str, &str); 19] = [
        (None, &late, "windows-1251", "Мир"),
        (Some("text/html"), &beyond, "UTF-8", "e"),
        (None, &utf16_le, "UTF-16LE", "é✓"),
        (Some("text/html; charset=utf-8"), &utf16_be, "UTF-16BE", "é✓"),
        (None, b"<meta charset=\"utf-16\"><title>\xc3\xa9</title>", "UTF-8", "é"),
        (
            Some("text/html; charset=utf-8"),
            b"<meta http-equiv=Content-Type content=\"text/html; charset=windows-1252\"><title>\xc3\xa9</title>",
            "UTF-8",
            "é",
        ),
        (
            None,
            b"<meta http-equiv=Content-Type content=\"text/html; charset='windows-1250'\"><title>\xb9</title>",
            "windows-1250",
            "ą",
        ),
        (None, b"<meta content='text/html; charset=gbk'><title>\xc3\xa9</title>", "UTF-8", "é"),
        (Some("text/html; charset=klingon-8"), b"<meta charset=utf-8><title>\xc3\xa9</title>", "UTF-8", "é"),
        (Some("text/html; charset=windows-1251"), b"\xef\xbb\xbf<title>\xd0\x9c</title>", "UTF-8", "М"),
        (Some("text/html; charset=latin1"), b"<title>\xe9\x80</title>", "windows-1252", "é€"),
        (Some("text/html;Charset=\"ISO-8859-1\""), b"<title>\xe9</title>", "windows-1252", "é"),
        (Some("text/html;charset=cp1252"), b"<title>\xe9</title>", "windows-1252", "é"),
        (Some("text/html; charset=shift_jis"), b"<title>\x83\x65</title>", "Shift_JIS", "テ"),
        (Some("text/html; charset=utf-16le"), b"<\0t\0i\0t\0l\0e\0>\0a\0<\0/\0t\0i\0t\0l\0e\0>\0", "UTF-16LE", "a"),
        (Some("text/html"), b"<!-- <meta charset=koi8-r> --><title>\xc3\xa9</title>", "UTF-8", "é"),
        (Some("text/html"), b"<p a='<meta charset=koi8-r>'><title>\xc3\xa9</title>", "UTF-8", "é"),
        (
            Some("application/xhtml+xml"),
            b"<?xml version='1.0' encoding='iso-8859-2'?><title>\xb1</title>",
            "ISO-8859-2",
            "ą",
        ),
        (Some("text/html"), b"<title>caf\xe9 d\xe9j\xe0 vu</title>", "windows-1252", "café déjà vu"),
    ];
    for (content_type, body, charset, title) in cases {
        let page = scan(body, content_type, &page_url(), &ScanLimits::default());
        let shown = String::from_utf8_lossy(body);
        assert_eq!((page.charset, page.title.as_deref()), (charset, Some(title)), "{shown}");
    }
}

#[test]
fn bad_bytes_do_no_harm() {
    let body = b"<p>\xc3\xa9</p><p>\xe9\xe8</p><a href=\"/ok\">x</a>";
    let html = Some("text/html; charset=utf-8");
    let page = scan(body, html, &page_url(), &ScanLimits::default());
    assert_eq!(page.links[0].url.as_str(), "https://example.com/ok");
    assert_eq!(page.text, "é\n\u{fffd}\u{fffd}\nx");
}

#[test]
fn kinds_of_body() {
    let cases: [(Option<&str>, &[u8], PageKind, &str); 10] = [
        (Some("TEXT/HTML"), b"<p>a", PageKind::Html, "a"),
        (Some("application/xhtml+xml; charset=utf-8"), b"<p>a</p>", PageKind::Html, "a"),
        (Some("text/plain"), b" <p>a \n\n b&amp;", PageKind::PlainText, "<p>a\nb&amp;"),
        (Some("application/pdf"), b"%PDF <p>a", PageKind::Other, ""),
        (Some("application/json"), b"{}", PageKind::Other, ""),
        (None, b" <p>a", PageKind::Html, "a"),
        (Some("nonsense"), b"<p>a", PageKind::Html, "a"),
        (None, b"a", PageKind::PlainText, "a"),
        (None, b"\x89PNG\r\n\x1a\n\0", PageKind::Other, ""),
        (None, b"", PageKind::PlainText, ""),
    ];
    for (content_type, body, kind, text) in cases {
        let page = scan(body, content_type, &page_url(), &ScanLimits::default());
        assert_eq!((page.kind, page.text.as_str()), (kind, text), "{content_type:?}");
    }
}
