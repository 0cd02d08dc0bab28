//! Pages that may be indexed only where they are embedded: what they say finds the pages that embed
//! them, and never themselves (RM-025, AM-59).

use std::collections::HashSet;

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, EnableScoring, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet as _, Term};

use super::Form;
use super::searcher::{Embedded, Found, Search};

/// Embedded pages that one search looks at, the best first.
const EMBEDDED_MAX: usize = 100;
/// Pages that are found through one embedded page.
const EMBEDDERS_MAX: usize = 20;

/// The documents that are found only by what they embed. `own` is what a document must meet to be
/// found by itself, `within` what an embedded page must.
pub(super) fn find(
    search: &Search<'_>,
    own: &BooleanQuery,
    within: &BooleanQuery,
) -> tantivy::Result<Vec<Found>> {
    let form = search.fields.form_term(Form::Embedded);
    if search.searcher.doc_freq(&form)? == 0 {
        return Ok(Vec::new());
    }
    let top = TopDocs::with_limit(EMBEDDED_MAX).order_by_score();
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for (score, through) in search.searcher.search(within, &top)? {
        for is_hidden in [false, true] {
            for at in embedders(search, through, is_hidden)? {
                if seen.insert(at) && !meets(search, own, at)? {
                    let through = Some(Embedded { at: through, is_hidden });
                    found.push(Found { score, at, through });
                }
            }
        }
    }
    Ok(found)
}

/// The documents that embed this one, where it is hidden from snippets or where it is not, and may
/// be shown.
fn embedders(
    search: &Search<'_>,
    embedded: DocAddress,
    is_hidden: bool,
) -> tantivy::Result<Vec<DocAddress>> {
    let columns = search.searcher.segment_reader(embedded.segment_ord).fast_fields();
    let Some(address) = columns.u64("address")?.first(embedded.doc_id) else {
        return Ok(Vec::new());
    };
    let fields = search.fields;
    let field = if is_hidden { fields.hidden_embeds } else { fields.embeds };
    let embeds = Term::from_field_u64(field, address);
    let embeds: Box<dyn Query> = Box::new(TermQuery::new(embeds, IndexRecordOption::Basic));
    let mut clauses = vec![(Occur::Must, embeds)];
    clauses.extend(super::query::permitted(search.fields, &[Form::Full], search.now));
    let top = TopDocs::with_limit(EMBEDDERS_MAX).order_by_score();
    let found = search.searcher.search(&BooleanQuery::new(clauses), &top)?;
    Ok(found.into_iter().map(|(_, at)| at).collect())
}

/// Whether a document is found by a query.
fn meets(search: &Search<'_>, query: &BooleanQuery, at: DocAddress) -> tantivy::Result<bool> {
    let segment = search.searcher.segment_reader(at.segment_ord);
    let weight = query.weight(EnableScoring::disabled_from_searcher(&search.searcher))?;
    let mut scorer = weight.scorer(segment, 1.0)?;
    // It stands at the first that meets it, and goes forward only.
    Ok(scorer.doc() <= at.doc_id && scorer.seek(at.doc_id) == at.doc_id)
}
