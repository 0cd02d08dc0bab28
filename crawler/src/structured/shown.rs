//! Structured data as it may be shown: limits on snippets do not touch it, but for the description
//! of articles and other creative works (SN-005).
//!
//! There are hundreds of types of creative works, more each year, and JSON-LD can write each in many
//! ways. So the description of everything keeps to the limit, except of what is known to be something
//! else, such as a product or a place.

use serde_json::Value;

/// JSON inside JSON beyond this is not shown.
const DEPTH_MAX: usize = 64;

/// Parts of a language's tag, as in `zh-Hant-TW`.
const SUBTAGS_MAX: usize = 4;

/// What of a page's structured data may be shown where at most so many characters of its text may.
/// None if it cannot be read, or if it has words of its own for what schema.org says.
pub fn shown(json: &str, snippet_chars: Option<u32>) -> Option<Value> {
    let mut value = serde_json::from_str(json).ok()?;
    if let Some(limit) = snippet_chars {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        cap(&mut value, limit, DEPTH_MAX).ok()?;
    }
    Some(value)
}

/// The data has a vocabulary of its own: which of its words mean a description cannot be told.
struct OwnWords;

fn cap(value: &mut Value, limit: usize, depth: usize) -> Result<(), OwnWords> {
    let Some(depth) = depth.checked_sub(1) else {
        *value = Value::Null;
        return Ok(());
    };
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(|item| cap(item, limit, depth)),
        Value::Object(object) => {
            if object.get("@context").is_some_and(has_own_words) {
                return Err(OwnWords);
            }
            if !object.get("@type").is_some_and(is_no_creative_work) {
                // Several descriptions are one text to whoever reads them, however each is written.
                let mut left = limit;
                object.retain(|name, value| !is_description(name) || fits(value, &mut left));
            }
            object.values_mut().try_for_each(|value| cap(value, limit, depth))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn has_own_words(context: &Value) -> bool {
    match context {
        Value::Object(_) => true,
        Value::Array(contexts) => contexts.iter().any(has_own_words),
        Value::String(context) => !is_schema_org(context),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether this address names schema.org's own words, in one of the ways that pages do.
pub(super) fn is_schema_org(context: &str) -> bool {
    let address = context.trim().to_ascii_lowercase();
    let address = address.strip_prefix("https:").or(address.strip_prefix("http:"));
    let host =
        address.and_then(|rest| rest.strip_prefix("//")).and_then(|rest| rest.split('/').next());
    matches!(host, Some("schema.org" | "www.schema.org"))
}

/// Whether this is schema.org's name for a description, however it is written.
pub(super) fn is_description(name: &str) -> bool {
    local(name).eq_ignore_ascii_case("description")
}

/// Cuts the texts of a description to what is left of the limit, and takes that off; whether
/// anything remains.
fn fits(value: &mut Value, left: &mut usize) -> bool {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(*left) {
                text.truncate(end);
            }
            *left -= text.chars().count();
            !text.is_empty()
        }
        Value::Array(items) => {
            items.retain_mut(|item| fits(item, left));
            !items.is_empty()
        }
        Value::Object(object) => {
            object.retain(|name, value| match name.as_str() {
                "@value" => fits(value, left),
                "@language" => value.as_str().is_some_and(is_language),
                _ => false,
            });
            object.contains_key("@value")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            let rest = left.checked_sub(value.to_string().len());
            rest.inspect(|rest| *left = *rest).is_some()
        }
    }
}

/// Whether it could be a language's tag (RFC 5646 section 2.1), and is no sentence.
fn is_language(tag: &str) -> bool {
    let is_subtag = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    tag.split('-').count() <= SUBTAGS_MAX && tag.split('-').all(is_subtag)
}

/// The name without the vocabulary it is of: `Article` of `https://schema.org/Article`.
fn local(name: &str) -> &str {
    let name = name.split('?').next().unwrap_or(name);
    let name = name.trim().trim_end_matches(['/', '#', ':']);
    name.rsplit(['/', '#', ':']).next().unwrap_or(name)
}

/// Whether all types of something are known, and none is a creative work.
fn is_no_creative_work(kind: &Value) -> bool {
    match kind {
        Value::String(name) => OTHER_THINGS.binary_search(&local(name)).is_ok(),
        Value::Array(kinds) => !kinds.is_empty() && kinds.iter().all(is_no_creative_work),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Types of schema.org that are no creative works, in the order of their bytes.
const OTHER_THINGS: [&str; 88] = [
    "AggregateOffer",
    "AggregateRating",
    "Airport",
    "Bakery",
    "BankOrCreditUnion",
    "Brand",
    "BreadcrumbList",
    "Bridge",
    "BusinessEvent",
    "CafeOrCoffeeShop",
    "Car",
    "ChildrensEvent",
    "City",
    "CollegeOrUniversity",
    "ComedyEvent",
    "ContactPoint",
    "Corporation",
    "Country",
    "CourseInstance",
    "DanceEvent",
    "Dentist",
    "EducationEvent",
    "EducationalOccupationalProgram",
    "EducationalOrganization",
    "Event",
    "ExhibitionEvent",
    "Festival",
    "FinancialProduct",
    "FoodEstablishment",
    "FoodEvent",
    "GovernmentOrganization",
    "Hospital",
    "Hotel",
    "IndividualProduct",
    "ItemList",
    "JobPosting",
    "Library",
    "ListItem",
    "LiteraryEvent",
    "LocalBusiness",
    "LodgingBusiness",
    "MedicalBusiness",
    "MedicalClinic",
    "MedicalCondition",
    "MerchantReturnPolicy",
    "MonetaryAmount",
    "MusicEvent",
    "MusicGroup",
    "NGO",
    "NewsMediaOrganization",
    "Occupation",
    "Offer",
    "OfferCatalog",
    "OnlineStore",
    "Organization",
    "PerformingGroup",
    "Person",
    "Pharmacy",
    "Physician",
    "Place",
    "PostalAddress",
    "PriceSpecification",
    "Product",
    "ProductGroup",
    "ProductModel",
    "ProfessionalService",
    "PropertyValue",
    "QuantitativeValue",
    "Rating",
    "Residence",
    "Restaurant",
    "School",
    "ScreeningEvent",
    "SearchAction",
    "Service",
    "SocialEvent",
    "SportsEvent",
    "SportsOrganization",
    "SportsTeam",
    "Store",
    "TheaterEvent",
    "TouristAttraction",
    "TouristDestination",
    "Trip",
    "UnitPriceSpecification",
    "Vehicle",
    "VirtualLocation",
    "VisualArtsEvent",
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_stand_in_order() {
        assert!(OTHER_THINGS.is_sorted());
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

    /// SN-005: types that nobody lists, and types and properties written in other ways.
    #[test]
    fn what_may_be_a_description_is_capped() {
        let long = "a description";
        for (data, limit, expect) in [
            (
                json!({ "@type": "TVEpisode", "description": long }),
                Some(0),
                json!({ "@type": "TVEpisode" }),
            ),
            (
                json!({ "@type": "https://schema.orgArticle", "description": long }),
                Some(0),
                json!({ "@type": "https://schema.orgArticle" }),
            ),
            (
                json!({ "@type": "https://schema.org/Article/", "description": long }),
                Some(0),
                json!({ "@type": "https://schema.org/Article/" }),
            ),
            (
                json!({ "@type": " Article", "Description": long }),
                Some(0),
                json!({ "@type": " Article" }),
            ),
            (
                json!({ "type": "Article", "description": long }),
                Some(0),
                json!({ "type": "Article" }),
            ),
            (
                json!({ "@type": ["Product", "Book"], "description": long }),
                Some(0),
                json!({ "@type": ["Product", "Book"] }),
            ),
            (
                json!({ "@id": "#x", "description": { "@value": "x", "@language": "a language that is a whole sentence of text" } }),
                Some(1),
                json!({ "@id": "#x", "description": { "@value": "x" } }),
            ),
        ] {
            assert_eq!(shown(&data.to_string(), limit), Some(expect), "{data} {limit:?}");
        }
    }

    /// SN-005: whatever a description is made of, all of it together keeps to the limit.
    #[test]
    fn descriptions_share_the_limit() {
        let long = "a description";
        for (data, limit, expect) in [
            (
                json!({ "description": { "@value": "x", "@language": ["a sentence"], "@type": "another" } }),
                Some(1),
                json!({ "description": { "@value": "x" } }),
            ),
            (
                json!({ "description": [[long], [[long, long]]] }),
                Some(14),
                json!({ "description": [[long], [["a"]]] }),
            ),
            (
                json!({ "Description": long, "description": long, "schema:description": long }),
                Some(14),
                json!({ "Description": long, "description": "a" }),
            ),
            (
                json!({ "https://schema.org/description": long, "http://schema.org/description/": long }),
                Some(0),
                json!({}),
            ),
            (
                json!({ "description": [123_456, true, null, "text"] }),
                Some(5),
                json!({ "description": [true, "t"] }),
            ),
        ] {
            assert_eq!(shown(&data.to_string(), limit), Some(expect), "{data} {limit:?}");
        }
    }

    /// Which words of a foreign vocabulary are a description cannot be told.
    #[test]
    fn words_of_their_own() {
        let long = "a description";
        let own = json!({ "@context": ["https://schema.org", { "summary": "description" }], "summary": long });
        assert_eq!(shown(&own.to_string(), Some(0)), None);
        assert_eq!(shown(&own.to_string(), None), Some(own));
        for (context, is_known) in [
            ("https://schema.org", true),
            ("http://schema.org/", true),
            ("https://www.schema.org/docs/jsonldcontext.json", true),
            ("https://example.org/words.jsonld", false),
            ("https://schema.org.example.org/", false),
            ("words.jsonld", false),
        ] {
            let data = json!({ "@context": [context], "summary": long });
            assert_eq!(shown(&data.to_string(), Some(0)).is_some(), is_known, "{context}");
        }
    }
}
