//! Addresses as a page writes them, made absolute.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use url::Url;

/// Turns addresses on a page into absolute ones.
#[derive(Debug)]
pub(crate) struct Resolver {
    base: Url,
    /// What a query is encoded in, if not UTF-8 (URL standard, query state).
    query_encoding: Option<&'static Encoding>,
}

impl Resolver {
    pub(crate) fn new(base: Option<&str>, encoding: &'static Encoding, url: &Url) -> Self {
        let is_unicode = [UTF_8, UTF_16BE, UTF_16LE].contains(&encoding);
        let mut resolver =
            Self { base: url.clone(), query_encoding: (!is_unicode).then_some(encoding) };
        if let Some(base) = base.and_then(|base| resolver.resolve(base)) {
            resolver.base = base;
        }
        resolver
    }

    /// The http or https address, without fragment; of a page that came by FTP its ftp addresses too.
    pub(crate) fn resolve(&self, address: &str) -> Option<Url> {
        let encode = self.query_encoding.map(query_encoder);
        let options = Url::options().base_url(Some(&self.base));
        let resolved = match &encode {
            Some(encode) => options.encoding_override(Some(encode)).parse(address),
            None => options.parse(address),
        };
        let mut url = resolved.ok()?;
        url.set_fragment(None);
        let is_wanted = match url.scheme() {
            "http" | "https" => true,
            "ftp" => self.base.scheme() == "ftp",
            _ => false,
        };
        (is_wanted && url.has_host()).then_some(url)
    }
}

fn query_encoder(encoding: &'static Encoding) -> impl Fn(&str) -> Cow<'_, [u8]> {
    move |query| encoding.encode(query).0
}

/// The one value, if all are the same.
pub(super) fn only(mut urls: impl Iterator<Item = Url>) -> Option<Url> {
    let first = urls.next()?;
    urls.all(|url| url == first).then_some(first)
}
