//! What a reader sees, and what a snippet may show of it (R10).

use super::*;

const SNIPPET_TEXT_LEAVES_OUT_DATA_NOSNIPPET: &[(&str, &str, &str)] = &[
    ("<p>a <span data-nosnippet>b</span> c</p>", "a c", "SN-003 span in p"),
    ("a<span data-nosnippet>b</span>c", "a c", "two words stay two"),
    ("<div data-nosnippet>b</div>c", "c", "SN-003 div"),
    ("<section data-nosnippet>b</section>c", "c", "SN-001 section"),
    ("<mytag data-nosnippet>b</mytag>", "b", "SN-003 custom element"),
    ("<p data-nosnippet>b</p>", "b", "SN-001 only span, div, section"),
    ("<div data-nosnippet>b<p>c<ul><li>d</ul></div>e", "e", "SN-003 nested"),
    ("<div data-nosnippet='true'>b</div>c", "c", "SN-001 any value"),
    ("<div data-nosnippet=false>b</div><div DATA-NOSNIPPET>d</div>c", "c", "SN-001"),
    ("a<div data-nosnippet>b<p>c", "a", "SN-002 unclosed"),
    ("<p>a</p><div data-nosnippet /><p>c</p>", "a", "a slash means nothing on div"),
    ("<my-box>a</my-box><section data-nosnippet><my-box>b</my-box></section>", "a", "wrapped"),
    (
        "<p>x1<div data-nosnippet>x2</div>x3</p><span data-nosnippet><b>x4</span>x5</b>",
        "x1\nx3\nx5",
        "p closed by div; misnested b",
    ),
    ("<p><span data-nosnippet>b</p>c", "c", "p closes what is open in it"),
    ("<ul><li><span data-nosnippet>b<li>c</ul>", "c", "li closes li"),
    ("<table><tr><td><div data-nosnippet>b<td>c</table>d", "c\nd", "td closes td"),
    ("<section><div data-nosnippet>b</section>c", "c", "section closes div"),
    ("<b><div data-nosnippet>b</b>c</div>d", "d", "b does not close div"),
    ("<span><div data-nosnippet>b</span>c</div>d", "d", "span does not close div"),
    ("<div><table><tr><td><span data-nosnippet>b</div>c</table>d", "d", "not through a cell"),
    ("<form><div data-nosnippet>b</form>c</div>d", "d", "form does not close div"),
    ("<div data-nosnippet>b<div>c</div>d</div>e", "e", "div in div"),
    ("<div data-nosnippet><p><div>b</p></div></div>c", "c", "stray end tag of p"),
    ("<div data-nosnippet>b<!-- </div> -->c</div>d", "d", "comment"),
    ("<div data-nosnippet>b<script>'</div>'</script>c</div>d", "d", "script"),
    ("<div data-nosnippet>b<textarea></div></textarea>c</div>d", "d", "textarea"),
    ("<div data-nosnippet>b</body></html>c", "", "body is never closed"),
    ("<div data-nosnippet>b</div title='</div>'>c", "c", "attributes of end tags"),
    ("<div data-nosnippet><noscript><p>b</p></noscript>c</div>d", "d", "noscript"),
    ("<noscript><div data-nosnippet>b</noscript>c", "", "the readings differ: hide"),
    ("a<template><div data-nosnippet></template>b", "ab", "ends with its template"),
];

#[test]
fn snippet_text_leaves_out_data_nosnippet() {
    // (body, snippet text, the clause or report that says so)
    for (body, expect, clause) in SNIPPET_TEXT_LEAVES_OUT_DATA_NOSNIPPET.iter().copied() {
        let page = scan_html(body);
        assert_eq!(page.snippet_text, expect, "{clause}: {body}");
    }
}

#[test]
fn hidden_text_is_still_text_and_its_links_are_links() {
    let page = scan_html("<p>a<div data-nosnippet>b <a href=/x>c</a></div>");
    assert_eq!(page.text, "a\nb c");
    assert_eq!(page.links.len(), 1, "SN-006");
}

#[test]
fn deep_nesting_never_shows_what_is_hidden() {
    let deep = "<div>".repeat(600);
    let closed = "</div>".repeat(600);
    let cases = [
        format!("<div data-nosnippet>{deep}b{closed}"),
        format!("{deep}<div data-nosnippet>b</div>"),
        format!("<div data-nosnippet>{}b{}", "<p><div>".repeat(600), "</div>".repeat(600)),
    ];
    for html in cases {
        let page = scan_html(&html);
        assert_eq!((page.text.as_str(), page.snippet_text.as_str()), ("b", ""));
    }
    // What closes what is not known any more.
    let page = scan_html(&format!("<div data-nosnippet>{deep}b{closed}</div>c"));
    assert_eq!(page.snippet_text, "");
    let stray = "</x>".repeat(100);
    let page = scan_html(&format!("<div data-nosnippet>{deep}{stray}{}b", "</div>".repeat(512)));
    assert_eq!((page.text.as_str(), page.snippet_text.as_str()), ("b", ""), "AM-63");
    for inert in
        ["<style>b</style>", "<textarea>b</textarea>", "<template><a href=/t>b</a></template>"]
    {
        let page = scan_html(&format!("{deep}{inert}c"));
        assert_eq!((page.text.as_str(), page.links.len()), ("c", 0), "{inert}");
    }
}

#[test]
fn text_is_what_a_reader_sees() {
    let cases = [
        ("<p>a\n \t b</p>  <p>c</p>", "a b\nc"),
        ("a<b>b</b>c", "abc"),
        ("a<br>b", "a\nb"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "a\nb\nc"),
        ("a&amp;b &eacute; &#x263a; &notit; &lt;p&gt;", "a&b é ☺ ¬it; <p>"),
        ("a<style>p{}</style><script>x</script>b", "ab"),
        ("<svg><title>t</title><style>s</style><text>a</text></svg>b", "ab"),
        ("a<textarea>x</textarea><iframe>y</iframe><noframes>z</noframes>b", "ab"),
        ("a<noscript>Please enable JavaScript</noscript>b", "ab"),
        ("a<template>x</template>b", "ab"),
        ("a<svg class=x /><script>'<b>s</b>'</script><svg/>b", "ab"),
        ("a<!-- x -->b", "ab"),
        ("<title>t</title>a", "a"),
        ("<xmp><b></xmp>", "<b>"),
        ("a\0b\u{1}c", "a b c"),
        ("<title>t</title><frameset><frame src=/f>x</frameset>y<noframes>z</noframes>", ""),
        ("<body><frameset>a</frameset>", "a"),
        ("", ""),
        ("   ", ""),
    ];
    for (html, expect) in cases {
        assert_eq!(scan_html(html).text, expect, "{html}");
    }
}

#[test]
fn titles() {
    let cases = [
        ("<title> A &amp;\n B </title>", Some("A & B")),
        ("<title></title><title>b</title>", Some("b")),
        ("<title>a</title><title>b</title>", Some("a")),
        ("<svg><title>s</title></svg><title>b</title>", Some("b")),
        ("<template><title>x</title></template>", None),
        ("<title><b>a</title>", Some("<b>a")),
        ("<title>unfinished", Some("unfinished")),
        ("<p>none", None),
    ];
    for (html, expect) in cases {
        assert_eq!(scan_html(html).title.as_deref(), expect, "{html}");
    }
    let long = scan_html(&format!("<title>{}</title>", "é".repeat(2_000)));
    assert_eq!(long.title.unwrap().chars().count(), ScanLimits::default().title_chars);
}

#[test]
fn languages() {
    let cases = [
        ("<html lang=de-CH><p>", Some("de-CH")),
        ("<html xml:lang=fr>", Some("fr")),
        ("<html lang=''>", None),
        ("<p lang=de>", None),
    ];
    for (html, expect) in cases {
        assert_eq!(scan_html(html).language.as_deref(), expect, "{html}");
    }
}
