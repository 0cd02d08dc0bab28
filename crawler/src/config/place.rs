//! Where a setting stands in its file, so that a fault found later can name line and column.

use toml::de::{DeTable, DeValue};

/// A place in a text, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Place {
    fn of(text: &str, byte: usize) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Self { line, column: before[start..].chars().count() + 1 }
    }
}

/// Where the value of a path of keys stands; a number is a place in an array. The nearest table
/// that is there, if the key is absent.
pub(super) fn place_of(text: &str, path: &[String]) -> Option<Place> {
    let root = DeTable::parse(text).ok()?;
    let mut at = None;
    let mut table = Some(root.get_ref());
    let mut value: Option<&DeValue<'_>> = None;
    for key in path {
        let next = match (table, value) {
            (Some(table), _) => {
                let found = table.iter().find(|(name, _)| name.get_ref() == key);
                found.map(|(name, value)| (name.span(), value))
            }
            (None, Some(DeValue::Array(items))) => {
                let item = key.parse::<usize>().ok().and_then(|n| items.get(n));
                item.map(|item| (item.span(), item))
            }
            (None, _) => None,
        };
        let Some((name, found)) = next else { break };
        table = found.get_ref().as_table();
        value = Some(found.get_ref());
        // A table's own span is that of its last part; its name stands where a reader looks.
        at = Some(if table.is_some() { name.start } else { found.span().start });
    }
    at.map(|byte| Place::of(text, byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let text = "[crawl]\ndepth = 1\n\n[extract.\"ä b\"]\nurls = [\"/a\",\n  \"b\"]\n\
                    [extract.\"ä b\".fields.price]\ncss = \"p[\"\n[extract.c]\nfields.x = { css = \"p\", regex = \"(\" }\n";
        for (path, expect) in [
            (&["extract", "ä b", "fields", "price", "css"][..], Some((8, 7))),
            (&["extract", "ä b", "urls", "1"], Some((6, 3))),
            (&["extract", "ä b", "each"], Some((4, 10))),
            (&["extract", "c", "fields", "x", "regex"], Some((10, 33))),
            (&["crawl", "depth"], Some((2, 9))),
            (&["nothing"], None),
        ] {
            let path: Vec<_> = path.iter().map(|key| (*key).to_owned()).collect();
            let place = place_of(text, &path).map(|place| (place.line, place.column));
            assert_eq!(place, expect, "{path:?}");
        }
    }
}
