//! What an entry of a sitemap tells, as data.

use std::time::Duration;

use comity_compliance::Timestamp;
use url::Url;

use super::Position;

/// An entry with a usable address: absolute, http or https, in its normal form.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Listed {
    /// A page.
    Page(Box<ListedPage>),
    /// Another sitemap, of an index.
    Sitemap(ListedSitemap),
}

impl Listed {
    /// The address.
    pub fn url(&self) -> &Url {
        match self {
            Self::Page(page) => &page.url,
            Self::Sitemap(sitemap) => &sitemap.url,
        }
    }

    /// Where the entry begins.
    pub fn at(&self) -> Position {
        match self {
            Self::Page(page) => page.at,
            Self::Sitemap(sitemap) => sitemap.at,
        }
    }

    /// When it was last changed, as the sitemap claims: a hint (SM-003).
    pub fn lastmod(&self) -> Option<Timestamp> {
        match self {
            Self::Page(page) => page.lastmod,
            Self::Sitemap(sitemap) => sitemap.lastmod,
        }
    }
}

/// A sitemap that an index lists.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListedSitemap {
    /// Its address.
    pub url: Url,
    /// Where the entry begins.
    pub at: Position,
    /// When it was last changed, as the index claims.
    pub lastmod: Option<Timestamp>,
}

/// A page that a sitemap or a feed lists, with what the extensions tell of it (SM-005). `priority`
/// and `changefreq` are not read (SM-003).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListedPage {
    /// Its address.
    pub url: Url,
    /// Where the entry begins.
    pub at: Position,
    /// When it was last changed, as the sitemap claims.
    pub lastmod: Option<Timestamp>,
    /// The same page in other languages, itself usually among them.
    pub alternates: Vec<Alternate>,
    /// Images on it.
    pub images: Vec<Url>,
    /// Videos on it.
    pub videos: Vec<Video>,
    /// The news that it is.
    pub news: Option<News>,
}

/// A page in another language (`xhtml:link`).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Alternate {
    /// The language and region, or `x-default`, as written.
    pub language: String,
    /// Its address.
    pub url: Url,
}

/// A video on a page, by the video extension or Media RSS. Texts are as written, cut at
/// [`super::SitemapLimits::text_bytes`]; what is missing is empty or none.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Video {
    /// The image that stands for it.
    pub thumbnail: Option<Url>,
    /// The file itself.
    pub content: Option<Url>,
    /// The player.
    pub player: Option<Url>,
    /// The title.
    pub title: String,
    /// The description.
    pub description: String,
    /// How long it plays.
    pub duration: Option<Duration>,
    /// When it was published.
    pub published: Option<Timestamp>,
    /// Until when it can be seen.
    pub expires: Option<Timestamp>,
}

/// News, by the news extension.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct News {
    /// The name of the paper.
    pub publication: String,
    /// The language, as written.
    pub language: String,
    /// The title.
    pub title: String,
    /// When it was published.
    pub published: Option<Timestamp>,
}
