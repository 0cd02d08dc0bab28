//! An entry while it is being read.

use std::ops::ControlFlow;
use std::time::Duration;

use comity_compliance::{SitemapFault, Timestamp};
use url::Url;

use super::report::Sink;
use super::vocabulary::Field;
use super::{
    Alternate, Listed, ListedPage, ListedSitemap, News, Position, SitemapKind, Video, parse_lastmod,
};

/// News counts as such for so long (SM-005).
const NEWS_LASTS: Duration = Duration::from_secs(2 * 86_400);

/// An entry while it is being read.
pub(super) struct Draft {
    at: Position,
    loc: Loc,
    guid: Option<String>,
    lastmod: Option<Timestamp>,
    published: Option<Timestamp>,
    alternates: Vec<Alternate>,
    images: Vec<Url>,
    videos: Vec<Video>,
    /// The video that is being read, or what Media RSS tells of the one of an item.
    pub(super) video: Video,
    news: Option<News>,
}

enum Loc {
    Missing,
    /// It was told as a fault.
    Unusable,
    Usable(Url),
}

/// The text of an element.
#[derive(Default)]
pub(super) struct Text {
    pub(super) written: String,
    /// A part of it is not known.
    pub(super) has_gap: bool,
}

impl Draft {
    pub(super) fn new(at: Position) -> Self {
        Self {
            at,
            loc: Loc::Missing,
            guid: None,
            lastmod: None,
            published: None,
            alternates: Vec::new(),
            images: Vec::new(),
            videos: Vec::new(),
            video: Video::default(),
            news: None,
        }
    }

    /// Takes the text of an element that is complete.
    pub(super) fn take(&mut self, field: Field, text: &Text, at: Position, sink: &mut Sink<'_>) {
        let written = text.written.trim();
        let address = |sink: &mut Sink<'_>| match text.has_gap || written.is_empty() {
            true => None,
            false => sink.address(at, written),
        };
        match field {
            Field::Loc => self.take_loc(text, at, sink),
            Field::Guid => self.guid = Some(written.to_owned()),
            Field::Lastmod => self.lastmod = date(written, at, sink).or(self.lastmod),
            Field::Published => self.published = date(written, at, sink),
            Field::ImageLoc => {
                if let Some(url) = address(sink) {
                    self.add_image(url, at, sink);
                }
            }
            Field::VideoThumbnail => self.video.thumbnail = address(sink),
            Field::VideoContent => self.video.content = address(sink),
            Field::VideoPlayer => self.video.player = address(sink),
            Field::VideoTitle => self.video.title = cut(written, sink),
            Field::VideoDescription => self.video.description = cut(written, sink),
            Field::VideoDuration => self.video.duration = seconds(written),
            Field::VideoPublished => self.video.published = date(written, at, sink),
            Field::VideoExpires => self.video.expires = date(written, at, sink),
            Field::NewsTitle => self.news().title = cut(written, sink),
            Field::NewsPublication => self.news().publication = cut(written, sink),
            Field::NewsLanguage => self.news().language = cut(written, sink),
            Field::NewsPublished => self.news().published = date(written, at, sink),
        }
    }

    /// Takes an address of the entry itself. An empty one is none: a feed's other element of the
    /// same name may have it.
    pub(super) fn take_loc(&mut self, text: &Text, at: Position, sink: &mut Sink<'_>) {
        let written = text.written.trim();
        if written.is_empty() && !text.has_gap {
            return;
        }
        if !matches!(self.loc, Loc::Missing) {
            return sink.fault(at, SitemapFault::SecondLoc, written);
        }
        let url = if text.has_gap { None } else { sink.address(at, written) };
        self.loc = url.map_or(Loc::Unusable, Loc::Usable);
    }

    pub(super) fn add_image(&mut self, url: Url, at: Position, sink: &mut Sink<'_>) {
        if self.images.len() < sink.limits.images {
            self.images.push(url);
        } else {
            sink.fault(at, SitemapFault::TooManyImages, "");
        }
    }

    pub(super) fn add_alternate(
        &mut self,
        alternate: Alternate,
        at: Position,
        sink: &mut Sink<'_>,
    ) {
        if self.alternates.len() < sink.limits.alternates {
            self.alternates.push(alternate);
        } else {
            sink.fault(at, SitemapFault::TooManyParts, "xhtml:link");
        }
    }

    /// The video that was being read is complete.
    pub(super) fn end_video(&mut self, at: Position, sink: &mut Sink<'_>) {
        let video = std::mem::take(&mut self.video);
        if self.videos.len() < sink.limits.videos {
            self.videos.push(video);
        } else {
            sink.fault(at, SitemapFault::TooManyParts, "video");
        }
    }

    /// The entry is complete: hands it over, or tells why not.
    pub(super) fn finish(mut self, kind: SitemapKind, sink: &mut Sink<'_>) -> ControlFlow<()> {
        if matches!(self.loc, Loc::Missing) {
            // RSS: a guid is an address unless it says otherwise.
            let written = self.guid.take().unwrap_or_default();
            self.take_loc(&Text { written, has_gap: false }, self.at, sink);
        }
        if self.video.content.is_some() || self.video.player.is_some() {
            self.end_video(self.at, sink);
        } else if let Some(thumbnail) = self.video.thumbnail.take() {
            self.add_image(thumbnail, self.at, sink);
        }
        let url = match self.loc {
            Loc::Usable(url) => url,
            Loc::Unusable => return ControlFlow::Continue(()),
            Loc::Missing => {
                sink.fault(self.at, SitemapFault::NoLoc, "");
                return ControlFlow::Continue(());
            }
        };
        let (at, lastmod) = (self.at, self.lastmod.or(self.published));
        if kind == SitemapKind::Index {
            return sink.emit(Listed::Sitemap(ListedSitemap { url, at, lastmod }));
        }
        let news = self.news.and_then(|news| counted(news, at, sink));
        let Self { alternates, images, videos, .. } = self;
        sink.emit(Listed::Page(Box::new(ListedPage {
            url,
            at,
            lastmod,
            alternates,
            images,
            videos,
            news,
        })))
    }

    fn news(&mut self) -> &mut News {
        self.news.get_or_insert_default()
    }
}

/// News, if there is not too much of it already, and while it is new (SM-005).
fn counted(news: News, at: Position, sink: &mut Sink<'_>) -> Option<News> {
    if sink.news >= sink.limits.news {
        sink.fault(at, SitemapFault::TooMuchNews, "");
        return None;
    }
    sink.news += 1;
    if news.published.is_some_and(|published| sink.now.since(published) > NEWS_LASTS) {
        sink.fault(at, SitemapFault::StaleNews, &news.title);
        return None;
    }
    Some(news)
}

fn date(written: &str, at: Position, sink: &mut Sink<'_>) -> Option<Timestamp> {
    let date = parse_lastmod(written, sink.now);
    if date.is_none() && !written.is_empty() {
        sink.fault(at, SitemapFault::BadDate, written);
    }
    date
}

pub(super) fn seconds(written: &str) -> Option<Duration> {
    written.trim().parse().ok().map(Duration::from_secs)
}

/// The text, as long as it may be kept.
pub(super) fn cut(written: &str, sink: &Sink<'_>) -> String {
    start_of(written, sink.limits.text_bytes).to_owned()
}

/// At most so many bytes of the start of a text, no character in part.
pub(super) fn start_of(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
