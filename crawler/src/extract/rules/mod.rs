//! Extraction without code: `[extract.NAME]` of `comity.toml`, checked and carried out.

mod check;
mod config;
mod field;
mod json_ld;
mod urls;
mod value;

use serde_json::{Map, Value};

pub use self::check::{RuleFault, check};
pub use self::config::{ExtractConfig, ExtractSections, FieldConfig, Pages, Type};
use self::field::Field;
pub use self::field::{FieldTrace, Miss};
use self::json_ld::Nodes;
use self::urls::UrlPattern;
use super::{Dom, ExtractError, Extractor, Needs, Out, PageView, ReadPage, TooCostly};
use crate::decision::Decision;

/// One `[extract.NAME]`, ready to work.
#[derive(Debug)]
pub struct Rules {
    name: String,
    urls: Vec<UrlPattern>,
    pages: Pages,
    each: Option<scraper::Selector>,
    fields: Vec<Field>,
}

/// One item that a page may have, field by field.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// What became of each field, in the order of their names.
    pub fields: Vec<FieldTrace>,
    /// The item, or why it is none.
    pub item: Result<Map<String, Value>, String>,
}

/// Items that are looked at on one page.
const MOST_ITEMS: usize = 10_000;

impl Rules {
    /// The names of its fields, in order.
    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.fields.iter().map(|field| field.name.as_str())
    }

    /// Tries every item that a page may have.
    ///
    /// # Errors
    /// [`TooCostly`], with what was tried until then lost.
    pub fn attempts(&self, page: &PageView<'_>) -> Result<Vec<Attempt>, TooCostly> {
        let dom = page.dom().ok();
        let nodes = Nodes::of(&page.content.structured_data);
        let roots = match (dom, &self.each) {
            (Some(dom), Some(each)) => {
                let found = dom.select(dom.root(), each, MOST_ITEMS)?;
                found.into_iter().map(Some).collect()
            }
            (Some(dom), None) => vec![Some(dom.root())],
            (None, _) => vec![None],
        };
        let place = |root| field::Place { page, dom, nodes: &nodes, root };
        roots.into_iter().map(|root| self.attempt(&place(root))).collect()
    }

    fn attempt(&self, place: &field::Place<'_>) -> Result<Attempt, TooCostly> {
        let traces = self.fields.iter().map(|field| field.read(place));
        let fields = traces.collect::<Result<Vec<_>, _>>()?;
        let missing = self.fields.iter().zip(&fields).find_map(|(field, trace)| {
            let miss = trace.miss.as_ref().filter(|_| field.required)?;
            Some(format!("{} is required: {}", field.name, miss.kind()))
        });
        let is_empty = fields.iter().all(|trace| trace.miss.is_some());
        let item = match missing {
            Some(missing) => Err(missing),
            None if is_empty => Err("no field has a value".into()),
            None => Ok(self.item(&fields)),
        };
        Ok(Attempt { fields, item })
    }

    /// Every field has its place, so that rows have the same columns; null where there is no value.
    fn item(&self, traces: &[FieldTrace]) -> Map<String, Value> {
        let pairs = self.fields.iter().zip(traces);
        pairs.map(|(field, trace)| (field.name.clone(), trace.value.clone())).collect()
    }

    /// Links that fields with `follow` name.
    fn links<'t>(&'t self, traces: &'t [FieldTrace]) -> impl Iterator<Item = url::Url> + 't {
        let followed = self.fields.iter().zip(traces).filter(|(field, _)| field.follow);
        let texts = followed.flat_map(|(_, trace)| match trace.value.as_array() {
            Some(all) => all.iter().filter_map(Value::as_str).collect::<Vec<_>>(),
            None => trace.value.as_str().into_iter().collect(),
        });
        texts.filter_map(|text| url::Url::parse(text).ok())
    }

    fn needs_dom(&self) -> bool {
        self.each.is_some() || self.fields.iter().any(Field::needs_dom)
    }
}

impl Extractor for Rules {
    type Item = Map<String, Value>;

    fn name(&self) -> &str {
        &self.name
    }

    fn needs(&self) -> Needs {
        if self.needs_dom() { Needs::Dom } else { Needs::Page }
    }

    fn takes(&self, page: &ReadPage) -> Decision {
        if self.pages == Pages::Indexable
            && let Some(withheld) = page.publication.withheld()
        {
            return Decision::leave(format!("the page is withheld: {}", withheld.code()));
        }
        if self.urls.is_empty() {
            return Decision::take("no urls are named");
        }
        match self.urls.iter().find(|pattern| pattern.matches(&page.url)) {
            Some(pattern) => Decision::take(format!("its address matches {pattern}")),
            None => Decision::leave("its address matches none of urls"),
        }
    }

    fn extract(
        &self,
        page: &PageView<'_>,
        out: &mut Out<'_, Self::Item>,
    ) -> Result<(), ExtractError> {
        for attempt in self.attempts(page)? {
            match attempt.item {
                Ok(item) => {
                    self.links(&attempt.fields).for_each(|url| out.link(url));
                    out.item(item)?;
                }
                Err(reason) => out.leave(reason),
            }
        }
        if page.dom().is_ok_and(Dom::is_cut) {
            return Err(
                "the page is larger or deeper than a tree may be; its end was not read".into()
            );
        }
        Ok(())
    }
}
