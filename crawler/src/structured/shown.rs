//! Structured data as it may be shown: limits on snippets do not touch it, but for the description
//! of articles and other creative works (SN-005).

use serde_json::Value;

/// JSON inside JSON beyond this is not shown.
const DEPTH_MAX: usize = 64;

/// What of a page's structured data may be shown where at most so many characters of its text may.
/// None if it cannot be read.
pub fn shown(json: &str, snippet_chars: Option<u32>) -> Option<Value> {
    let mut value = serde_json::from_str(json).ok()?;
    if let Some(limit) = snippet_chars {
        cap(&mut value, usize::try_from(limit).unwrap_or(usize::MAX), DEPTH_MAX);
    }
    Some(value)
}

fn cap(value: &mut Value, limit: usize, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else {
        *value = Value::Null;
        return;
    };
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| cap(item, limit, depth)),
        Value::Object(object) => {
            if object.get("@type").is_some_and(is_creative_work) {
                object.retain(|name, value| local(name) != "description" || fits(value, limit));
            }
            object.values_mut().for_each(|value| cap(value, limit, depth));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Cuts the texts of a description; whether anything is left.
fn fits(value: &mut Value, limit: usize) -> bool {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(limit) {
                text.truncate(end);
            }
            !text.is_empty()
        }
        Value::Array(items) => {
            // Several descriptions are one text to whoever reads them.
            let mut left = limit;
            items.retain_mut(|item| {
                let is_left = fits(item, left);
                left -= item.as_str().map_or(0, |text| text.chars().count()).min(left);
                is_left
            });
            !items.is_empty()
        }
        Value::Object(object) => {
            object.retain(|name, value| {
                name.starts_with('@') && name != "@value" || fits(value, limit)
            });
            object.contains_key("@value")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => limit > 0,
    }
}

/// The name without the vocabulary it is of: `Article` of `https://schema.org/Article`.
fn local(name: &str) -> &str {
    name.rsplit(['/', '#', ':']).next().unwrap_or(name)
}

fn is_creative_work(kind: &Value) -> bool {
    match kind {
        Value::String(name) => CREATIVE_WORKS.binary_search(&local(name)).is_ok(),
        Value::Array(kinds) => kinds.iter().any(is_creative_work),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// schema.org's CreativeWork and the types below it, in the order of their bytes.
const CREATIVE_WORKS: [&str; 129] = [
    "3DModel",
    "APIReference",
    "AboutPage",
    "AdvertiserContentArticle",
    "AmpStory",
    "AnalysisNewsArticle",
    "ArchiveComponent",
    "Article",
    "AskPublicNewsArticle",
    "Atlas",
    "AudioObject",
    "AudioObjectSnapshot",
    "Audiobook",
    "BackgroundNewsArticle",
    "Barcode",
    "Blog",
    "BlogPosting",
    "Book",
    "BookSeries",
    "Certification",
    "Chapter",
    "CheckoutPage",
    "Claim",
    "ClaimReview",
    "Clip",
    "Code",
    "Collection",
    "CollectionPage",
    "ComicCoverArt",
    "ComicIssue",
    "ComicSeries",
    "ComicStory",
    "Comment",
    "CompleteDataFeed",
    "ContactPage",
    "Conversation",
    "Course",
    "CoverArt",
    "CreativeWork",
    "CreativeWorkSeason",
    "CreativeWorkSeries",
    "CriticReview",
    "DataCatalog",
    "DataDownload",
    "DataFeed",
    "Dataset",
    "DefinedTermSet",
    "Diet",
    "DigitalDocument",
    "DiscussionForumPosting",
    "Drawing",
    "EducationalOccupationalCredential",
    "EmailMessage",
    "EmployerReview",
    "Episode",
    "ExercisePlan",
    "FAQPage",
    "Game",
    "Guide",
    "HowTo",
    "HowToDirection",
    "HowToSection",
    "HowToStep",
    "HowToTip",
    "HyperToc",
    "HyperTocEntry",
    "ImageGallery",
    "ImageObject",
    "ImageObjectSnapshot",
    "ItemPage",
    "LearningResource",
    "Legislation",
    "LegislationObject",
    "LiveBlogPosting",
    "Manuscript",
    "Map",
    "MathSolver",
    "MediaGallery",
    "MediaObject",
    "MediaReview",
    "MediaReviewItem",
    "MedicalScholarlyArticle",
    "MedicalWebPage",
    "Menu",
    "MenuSection",
    "Message",
    "MobileApplication",
    "Movie",
    "MovieClip",
    "MovieSeries",
    "MusicAlbum",
    "MusicComposition",
    "MusicPlaylist",
    "MusicRecording",
    "MusicRelease",
    "MusicVideoObject",
    "NewsArticle",
    "Newspaper",
    "NoteDigitalDocument",
    "OpinionNewsArticle",
    "Painting",
    "Periodical",
    "Photograph",
    "Play",
    "PodcastEpisode",
    "PodcastSeason",
    "PodcastSeries",
    "Poster",
    "PresentationDigitalDocument",
    "ProfilePage",
    "PublicationIssue",
    "PublicationVolume",
    "QAPage",
    "Question",
    "Quiz",
    "Quotation",
    "Recipe",
    "Report",
    "ReportageNewsArticle",
    "Review",
    "ScholarlyArticle",
    "SocialMediaPosting",
    "SoftwareApplication",
    "SoftwareSourceCode",
    "TechArticle",
    "VideoObject",
    "WebPage",
    "WebPageElement",
    "WebSite",
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_stand_in_order() {
        assert!(CREATIVE_WORKS.is_sorted());
    }

    /// SN-005: one line, one case: what stands there, the limit, what may be shown.
    #[test]
    fn descriptions_of_works_are_capped_and_nothing_else() {
        let long = "a description";
        for (data, limit, expect) in [
            (
                json!({ "@type": "Article", "description": long }),
                None,
                json!({ "@type": "Article", "description": long }),
            ),
            (
                json!({ "@type": "Article", "description": long }),
                Some(6),
                json!({ "@type": "Article", "description": "a desc" }),
            ),
            (
                json!({ "@type": "Article", "description": long }),
                Some(0),
                json!({ "@type": "Article" }),
            ),
            (
                json!({ "@type": "https://schema.org/NewsArticle", "description": long }),
                Some(1),
                json!({ "@type": "https://schema.org/NewsArticle", "description": "a" }),
            ),
            (
                json!({ "@type": ["Thing", "Recipe"], "description": [long, long] }),
                Some(14),
                json!({ "@type": ["Thing", "Recipe"], "description": [long, "a"] }),
            ),
            (
                json!({ "@type": "schema:Book", "schema:description": { "@value": long, "@language": "en" } }),
                Some(1),
                json!({ "@type": "schema:Book", "schema:description": { "@value": "a", "@language": "en" } }),
            ),
            (
                json!({ "@type": "Book", "description": { "@value": long } }),
                Some(0),
                json!({ "@type": "Book" }),
            ),
            (
                json!({ "@type": "Recipe", "name": "Pie", "recipeInstructions": long }),
                Some(0),
                json!({ "@type": "Recipe", "name": "Pie", "recipeInstructions": long }),
            ),
            (
                json!({ "@type": "Product", "description": long }),
                Some(0),
                json!({ "@type": "Product", "description": long }),
            ),
            (
                json!({ "@graph": [{ "@type": "WebPage", "description": "äöü" }] }),
                Some(2),
                json!({ "@graph": [{ "@type": "WebPage", "description": "äö" }] }),
            ),
            (
                json!({ "@type": "Organization", "subjectOf": { "@type": "Movie", "description": long } }),
                Some(0),
                json!({ "@type": "Organization", "subjectOf": { "@type": "Movie" } }),
            ),
        ] {
            assert_eq!(shown(&data.to_string(), limit), Some(expect), "{data} {limit:?}");
        }
        assert_eq!(shown("{oops", None), None);
    }
}
