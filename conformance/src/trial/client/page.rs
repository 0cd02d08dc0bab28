//! Links of pages and entries of sitemaps, as the reference client finds them.

/// Whether a fault is on.
type Has<'a> = &'a dyn Fn(&str) -> bool;

/// The base that a page names, and the links that may be followed.
pub(super) fn links(
    html: &str,
    headers: &[(String, String)],
    agent: &str,
    has: Has<'_>,
) -> (Option<String>, Vec<String>) {
    let html = without(html, "<!--", "-->", has("comments"));
    let html = without(&html, "<script", "</script>", has("scripts"));
    let (mut base, mut found, mut nofollow) =
        (None, Vec::new(), header_nofollow(headers, agent, has));
    for tag in html.split('<').skip(1).filter_map(|part| part.split('>').next()) {
        let name = tag.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        match name.as_str() {
            "base" if !has("no-base") => base = base.or(attribute(tag, "href")),
            "meta" if !has("meta-nofollow") => nofollow |= meta_nofollow(tag, agent, has),
            "a" => {
                let rel = attribute(tag, "rel").unwrap_or_default().to_ascii_lowercase();
                let values: Vec<_> = rel.split([' ', ',']).collect();
                let left = match (has("rel-nofollow"), has("rel-exact")) {
                    (true, _) => false,
                    (_, true) => rel == "nofollow",
                    _ => ["nofollow", "ugc", "sponsored"].iter().any(|v| values.contains(v)),
                };
                let href = attribute(tag, "href").filter(|_| !left);
                found.extend(href.map(|h| if has("keeps-entities") { h } else { decoded(&h) }));
            }
            "form" if has("forms") => found.extend(attribute(tag, "action")),
            _ => {}
        }
    }
    // A script's strings, as a crawler that greps for URLs finds them.
    if has("scripts") {
        let strings = html.split('"').filter(|s| s.starts_with('/') && !s.contains(['<', ' ']));
        found.extend(strings.map(str::to_owned));
    }
    (base, if nofollow { Vec::new() } else { found })
}

fn header_nofollow(headers: &[(String, String)], agent: &str, has: Has<'_>) -> bool {
    let tags = headers.iter().filter(|(name, _)| name == "x-robots-tag");
    let mut lines = tags.map(|(_, value)| value.to_ascii_lowercase());
    lines.any(|line| {
        let (who, rules) = match line.split_once(':') {
            Some((who, rules)) if !who.contains(',') => (who.trim().to_owned(), rules.to_owned()),
            _ => (String::new(), line),
        };
        let ours = who.is_empty() || who == agent.to_ascii_lowercase() || has("header-agents");
        ours && forbids(&rules, has) && !has("header-nofollow")
    })
}

fn meta_nofollow(tag: &str, agent: &str, has: Has<'_>) -> bool {
    let text = |name| attribute(tag, name).unwrap_or_default();
    let (name, content) = match has("meta-case") {
        true => (text("name"), text("content")),
        false => (text("name").to_ascii_lowercase(), text("content").to_ascii_lowercase()),
    };
    let own = name == agent.to_ascii_lowercase() && !has("meta-agent");
    (name == "robots" || own || has("meta-others") && name.ends_with("bot"))
        && forbids(&content, has)
}

/// The day that a robots meta tag names as the page's last.
pub(super) fn unavailable_after(html: &str) -> Option<String> {
    let mut tags = html.split("<meta ").skip(1).filter_map(|part| part.split('>').next());
    tags.find_map(|tag| {
        let content = attribute(tag, "content")?;
        let (_, day) = content.split_once("unavailable_after:")?;
        Some(day.trim().to_owned())
    })
}

fn forbids(rules: &str, has: Has<'_>) -> bool {
    let mut rules = rules.split(',').map(str::trim);
    rules.any(|rule| rule == "nofollow" || (rule == "none" && !has("meta-none")))
}

/// An attribute's value, quoted in either way or not at all.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let at = lower.find(&format!(" {name}="))? + name.len() + 2;
    let rest = tag.get(at..)?;
    let value = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest.get(1..)?.split(quote).next()?,
        _ => rest.split_whitespace().next()?,
    };
    Some(value.trim().to_owned())
}

fn decoded(text: &str) -> String {
    text.replace("&#47;", "/").replace("&quot;", "\"").replace("&amp;", "&")
}

/// The text without what stands between two marks.
fn without(text: &str, open: &str, close: &str, keep: bool) -> String {
    if keep {
        return text.replace(open, " ").replace(close, " ");
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once(open) {
        out.push_str(before);
        rest = inside.split_once(close).map_or("", |(_, after)| after);
    }
    out + rest
}

/// Sitemaps and pages that a sitemap lists.
pub(super) fn sitemap(text: &str, has: Has<'_>) -> (Vec<String>, Vec<String>) {
    let between = |open: &str, close: &str| -> Vec<String> {
        let parts = text.split(open).skip(1).filter_map(|part| part.split(close).next());
        let raw = has("sitemap-entities");
        parts.map(|url| if raw { url.trim().to_owned() } else { decoded(url.trim()) }).collect()
    };
    if text.contains("<sitemapindex") {
        return (between("<loc>", "</loc>"), Vec::new());
    }
    if text.contains("<urlset") {
        return (Vec::new(), between("<loc>", "</loc>"));
    }
    if has("sitemap-xml-only") {
        return (Vec::new(), Vec::new());
    }
    let urls = if text.contains("<rss") {
        between("<link>", "</link>")
    } else if text.contains("<feed") {
        between("<link href=\"", "\"")
    } else {
        text.lines().map(|line| line.trim().to_owned()).collect()
    };
    (Vec::new(), urls)
}
