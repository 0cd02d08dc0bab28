//! Lists whose elements may hold quoted text (RFC 9110 section 5.6.4).

/// The pieces of `text` between marks outside of quotes.
pub(crate) fn split(text: &str, mark: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |c| {
        let is_end = c == mark && !quoted;
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        is_end
    })
}
