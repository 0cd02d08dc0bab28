//! JSON-LD of a page, and paths into it.
//!
//! A path is keys with dots between them, `offers.price`; a list on the way stands for each of its
//! members, and `[0]` for one of them. If it begins with a capital letter, that is a type:
//! `Product.offers.price` looks into every Product, wherever it lies.

use serde_json::{Map, Value};

/// Everything that a page's JSON-LD scripts say.
#[derive(Debug)]
pub(super) struct Nodes {
    roots: Vec<Value>,
    /// Scripts that are no JSON.
    pub(super) broken: usize,
}

/// Values that one path finds.
const MOST_FOUND: usize = 1_000;
/// Values that are looked at for a type.
const MOST_LOOKED_AT: usize = 100_000;

impl Nodes {
    pub(super) fn of(scripts: &[String]) -> Self {
        let (mut roots, mut broken) = (Vec::new(), 0);
        for script in scripts {
            match serde_json::from_str(script.trim()) {
                Ok(value) => add_roots(value, &mut roots),
                Err(_) => broken += 1,
            }
        }
        Self { roots, broken }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }
}

/// A list is its members, and a graph too.
fn add_roots(value: Value, roots: &mut Vec<Value>) {
    match value {
        Value::Array(values) => roots.extend(values),
        Value::Object(mut object) => {
            if let Some(Value::Array(graph)) = object.remove("@graph") {
                roots.extend(graph);
            }
            roots.push(Value::Object(object));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Where a value is.
#[derive(Debug)]
pub(super) struct JsonPath {
    of_type: Option<String>,
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    Key(String),
    Index(usize),
}

impl JsonPath {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            |why: &str| format!("\"{text}\" is no path such as Product.offers[0].price: {why}");
        let (mut of_type, mut steps) = (None, Vec::new());
        for (n, piece) in text.split('.').enumerate() {
            let (key, indexes) = piece.split_at(piece.find('[').unwrap_or(piece.len()));
            if key.is_empty() || key.chars().any(|c| c.is_whitespace() || "]$*\"'".contains(c)) {
                return Err(wrong("a key is missing, or has a sign that no key has"));
            }
            if n == 0 && key.starts_with(|c: char| c.is_ascii_uppercase()) {
                of_type = Some(key.to_owned());
            } else {
                steps.push(Step::Key(key.into()));
            }
            let mut rest = indexes;
            while !rest.is_empty() {
                let inside = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                let (index, after) = inside.ok_or_else(|| wrong("[ without ]"))?;
                let index = index.parse().map_err(|_| wrong("in [ ] stands a number"))?;
                steps.push(Step::Index(index));
                rest = after;
            }
        }
        if steps.iter().all(|step| matches!(step, Step::Index(_))) {
            return Err(wrong("it names no key"));
        }
        Ok(Self { of_type, steps })
    }

    /// The values there, lists taken apart.
    pub(super) fn find<'n>(&self, nodes: &'n Nodes) -> Vec<&'n Value> {
        let mut found: Vec<&Value> = match &self.of_type {
            Some(name) => of_type(nodes, name),
            None => nodes.roots.iter().collect(),
        };
        for step in &self.steps {
            let next: Vec<&Value> = match step {
                Step::Key(key) => {
                    let objects = found.iter().flat_map(|value| members(value));
                    objects.filter_map(|object| object.get(key)).take(MOST_FOUND).collect()
                }
                Step::Index(n) => found.iter().filter_map(|value| nth(value, *n)).collect(),
            };
            found = next;
        }
        let flat = found.into_iter().flat_map(|value| match value {
            Value::Array(values) => values.iter().collect(),
            Value::Null => vec![],
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                vec![value]
            }
        });
        flat.take(MOST_FOUND).collect()
    }
}

/// A value that is no list is the only one of it.
fn nth(value: &Value, n: usize) -> Option<&Value> {
    match value.as_array() {
        Some(values) => values.get(n),
        None => (n == 0).then_some(value),
    }
}

/// The objects of a value that is one or a list of them.
fn members(value: &Value) -> Vec<&Map<String, Value>> {
    match value {
        Value::Object(object) => vec![object],
        Value::Array(values) => values.iter().filter_map(Value::as_object).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![],
    }
}

/// Every object of a type, wherever it lies. What lies inside one of the type is not looked at.
fn of_type<'n>(nodes: &'n Nodes, name: &str) -> Vec<&'n Value> {
    let mut found = Vec::new();
    let mut waiting: Vec<&Value> = nodes.roots.iter().rev().collect();
    for _ in 0..MOST_LOOKED_AT {
        let Some(value) = waiting.pop() else { break };
        match value {
            Value::Object(object) if is_of_type(object, name) => found.push(value),
            Value::Object(object) => waiting.extend(object.values().rev()),
            Value::Array(values) => waiting.extend(values.iter().rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

/// Types are written `Product`, `schema:Product` or `https://schema.org/Product`.
fn is_of_type(object: &Map<String, Value>, name: &str) -> bool {
    let is = |value: &Value| {
        value.as_str().and_then(|text| text.rsplit(['/', '#', ':']).next()) == Some(name)
    };
    match object.get("@type") {
        Some(Value::Array(types)) => types.iter().any(is),
        Some(one) => is(one),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line, one case: script, path, values as JSON.
    #[test]
    fn paths() {
        let product = r#"{"@type":"Product","name":"Rye","offers":[{"price":3},{"price":"4.50"}],"image":["a","b"]}"#;
        let graph = r#"{"@context":"https://schema.org","@graph":[{"@type":"WebPage","name":"Page","mainEntity":{"@type":["https://schema.org/Product","Thing"],"name":"Deep","brand":{"name":"B"}}}]}"#;
        for (script, path, expect) in [
            (product, "Product.name", r#"["Rye"]"#),
            (product, "name", r#"["Rye"]"#),
            (product, "Product.offers.price", r#"[3,"4.50"]"#),
            (product, "offers[1].price", r#"["4.50"]"#),
            (product, "offers[2].price", "[]"),
            (product, "image", r#"["a","b"]"#),
            (product, "image[0]", r#"["a"]"#),
            (product, "name[0]", r#"["Rye"]"#),
            (product, "Product.name.deeper", "[]"),
            (product, "Offer.price", "[]"),
            (graph, "Product.name", r#"["Deep"]"#),
            (graph, "Product.brand.name", r#"["B"]"#),
            (graph, "WebPage.name", r#"["Page"]"#),
            (graph, "name", r#"["Page"]"#),
            ("[1,{\"x\":null},{\"x\":true}]", "x", "[true]"),
            ("{not json", "x", "[]"),
        ] {
            let nodes = Nodes::of(&[script.to_owned()]);
            let found = JsonPath::parse(path).unwrap();
            let found = serde_json::to_string(&found.find(&nodes)).unwrap();
            assert_eq!(found, expect, "{path} in {script}");
        }
        assert_eq!(Nodes::of(&["{".to_owned(), "[".to_owned()]).broken, 2);
        for path in
            ["", ".", "a..b", "a[", "a[x]", "a]", "Product", "Product[0]", "$.a", "a b", "a[*]"]
        {
            assert!(JsonPath::parse(path).is_err(), "{path}");
        }
    }

    /// Bounded, whatever the page holds.
    #[test]
    fn large_and_deep() {
        let wide = format!("[{}]", vec![r#"{"x":[1,1,1,1]}"#; 20_000].join(","));
        assert_eq!(JsonPath::parse("x").unwrap().find(&Nodes::of(&[wide])).len(), MOST_FOUND);
        let deep = "[".repeat(100_000);
        assert_eq!(Nodes::of(&[deep]).broken, 1);
    }
}
