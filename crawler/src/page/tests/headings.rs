//! What stands in headings and in terms that are defined.

use super::*;

/// One line, one case: markup, and its headings.
#[test]
fn headings() {
    for (html, expect) in [
        ("<h1>One</h1>text<h2>Two <b>bold</b></h2>text", "One\nTwo bold"),
        ("<h1>One<h2>Two</h2>text", "One\nTwo"),
        ("<H3> spaced \n out </H3>", "spaced out"),
        ("<dl><dt>term(a, b)<dd>meaning<dt>other</dt><dd>more</dl>text", "term(a, b)\nother"),
        ("<h1>a</h2>text", "a"),
        ("<p>none</p>", ""),
        ("<h1></h1>text", ""),
        ("<h1>shown <span data-nosnippet>and hidden</span></h1>", "shown and hidden"),
        ("<h1>a<script>b</script></h1>", "a"),
        ("<template><h1>a</h1></template>", ""),
    ] {
        assert_eq!(scan_html(html).headings, expect, "{html}");
    }
    let long = format!("<h1>{}", "word ".repeat(100_000));
    assert!(scan_html(&long).headings.len() <= ScanLimits::default().heading_bytes);
}
