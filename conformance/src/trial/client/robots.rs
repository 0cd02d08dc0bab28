//! Robots.txt, as the reference client reads it.

use std::time::Duration;

/// Whether a fault is on.
type Has<'a> = &'a dyn Fn(&str) -> bool;

/// What a robots.txt says to one agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    denies_all: bool,
    /// Pattern, and whether it allows.
    rules: Vec<(String, bool)>,
    pub(super) sitemaps: Vec<String>,
    pub(super) delay: Option<Duration>,
}

#[derive(Debug, Default)]
struct Group {
    agents: Vec<String>,
    rules: Vec<(String, bool)>,
    delay: Option<Duration>,
}

impl Rules {
    pub(super) fn allow() -> Self {
        Self::default()
    }

    pub(super) fn deny() -> Self {
        Self { denies_all: true, ..Self::default() }
    }

    pub(super) fn parse(bytes: &[u8], agent: &str, has: Has<'_>) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        if has("robots-html") && text.contains("<html") {
            return Self::allow();
        }
        let text = match has("robots-bom") {
            true => text,
            false => text.trim_start_matches('\u{feff}').to_owned(),
        };
        let ends: &[char] = if has("robots-crlf") { &['\n'] } else { &['\n', '\r'] };
        let (mut groups, mut sitemaps) = (Vec::<Group>::new(), Vec::new());
        let mut open = false;
        for line in text.split(ends) {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match (key.as_str(), groups.last_mut()) {
                ("sitemap", _) => sitemaps.push(value.to_owned()),
                ("user-agent", Some(group)) if open && !has("splits-groups") => {
                    group.agents.push(value.to_owned());
                }
                ("user-agent", _) => {
                    groups.push(Group { agents: vec![value.to_owned()], ..Group::default() });
                    open = true;
                }
                ("allow" | "disallow", Some(group)) => {
                    open = false;
                    if !value.is_empty() {
                        group.rules.push((value.to_owned(), key == "allow"));
                    }
                }
                ("crawl-delay", Some(group)) => {
                    group.delay = value.parse().ok().map(Duration::from_secs_f64);
                }
                _ => {}
            }
        }
        Self { sitemaps, ..Self::chosen(&groups, agent, has) }
    }

    /// The groups that bind an agent, as one.
    fn chosen(groups: &[Group], agent: &str, has: Has<'_>) -> Self {
        let is_own = |name: &String| {
            let name = name.split(['/', ' ', '*']).next().unwrap_or_default();
            if has("agent-case") {
                name == agent
            } else if has("agent-by-part") {
                let (name, agent) = (name.to_ascii_lowercase(), agent.to_ascii_lowercase());
                !name.is_empty() && agent.contains(&name)
            } else {
                name.eq_ignore_ascii_case(agent)
            }
        };
        let is_star = |name: &String| name == "*" && !has("no-star-group");
        let own: Vec<_> = groups.iter().filter(|g| g.agents.iter().any(is_own)).collect();
        let star: Vec<_> = groups.iter().filter(|g| g.agents.iter().any(is_star)).collect();
        let chosen = if has("first-group") {
            groups.iter().take(1).collect()
        } else if has("adds-star-group") {
            own.into_iter().chain(star).collect()
        } else if own.is_empty() {
            star
        } else if has("no-merge") {
            own.into_iter().take(1).collect()
        } else {
            own
        };
        Self {
            rules: chosen.iter().flat_map(|g| g.rules.clone()).collect(),
            delay: chosen.iter().filter_map(|g| g.delay).max(),
            ..Self::default()
        }
    }

    pub(super) fn allows(&self, path: &str, has: Has<'_>) -> bool {
        if self.denies_all {
            return false;
        }
        let normal = |text: &str| match (has("no-escapes"), has("path-case")) {
            (true, _) => text.to_owned(),
            (_, true) => normalized(text).to_ascii_lowercase(),
            _ => normalized(text),
        };
        let path = normal(path);
        let fits = |pattern: &str| match has("no-wildcards") {
            true => path.starts_with(pattern),
            false => fits(pattern, &path),
        };
        let mut matching =
            self.rules.iter().map(|(p, allow)| (normal(p), *allow)).filter(|(p, _)| fits(p));
        if has("first-rule") {
            return matching.next().is_none_or(|(_, allow)| allow);
        }
        if has("any-disallow") {
            return matching.all(|(_, allow)| allow);
        }
        matching.max_by_key(|(p, allow)| (p.len(), *allow)).is_none_or(|(_, allow)| allow)
    }
}

/// `*` is anything, `$` at the end is the end.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, anchored) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<_> = parts.collect();
    for (index, part) in parts.iter().enumerate() {
        if anchored && index + 1 == parts.len() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    !anchored || rest.is_empty()
}

/// Octets outside ASCII escaped, escaped unreserved ones not, in capitals.
fn normalized(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escaped = (*byte == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let octet =
            escaped.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match octet {
            Some(octet) if octet.is_ascii_alphanumeric() || b"-._~".contains(&octet) => {
                out.push(char::from(octet));
            }
            Some(octet) => out.push_str(&format!("%{octet:02X}")),
            None if byte.is_ascii() => out.push(char::from(*byte)),
            None => out.push_str(&format!("%{byte:02X}")),
        }
        at += if octet.is_some() { 3 } else { 1 };
    }
    out
}
