//! The command line of a crawler: what is filled in, and what cannot be.

use thiserror::Error;

use super::choose::nearest;
use super::scenario::Mode;

/// What is filled in.
const KNOWN: [&str; 9] =
    ["seed", "agent", "interval", "policy", "proxy", "ca", "dir", "start", "scale"];

/// A command line that cannot be filled in.
#[derive(Debug, Error)]
pub enum CommandFault {
    /// Nothing is called so.
    #[error(
        "nothing is called {{{name}}} in the command{}; there are {} (for the shell alone, write \"{{ {name} }}\")",
        meant(.name),
        listed()
    )]
    Unknown {
        /// Its name.
        name: String,
    },
    /// There is no proxy.
    #[error("the command takes {{proxy}}, and there is one only with --proxy")]
    NoProxy,
    /// There are no certificates.
    #[error("the command takes {{ca}}, and there is one only with --tls")]
    NoTls,
    /// Without a seed there is nothing to crawl.
    #[error(
        "the command does not take {{seed}}, the URL to begin at: each scenario has one of its own"
    )]
    NoSeed,
}

fn meant(name: &str) -> String {
    nearest(name, KNOWN).map(|near| format!(", perhaps {{{near}}}")).unwrap_or_default()
}

fn listed() -> String {
    KNOWN.map(|name| format!("{{{name}}}")).join(" ")
}

/// Whether a command line can be filled in. What is no single word in braces, and what has a `$`
/// before it, is the shell's.
pub(super) fn check(command: &str, mode: Mode) -> Result<(), CommandFault> {
    let words = words(command);
    if let Some(name) = words.iter().find(|name| !KNOWN.contains(name)) {
        return Err(CommandFault::Unknown { name: (*name).to_owned() });
    }
    match () {
        () if words.contains(&"proxy") && !mode.is_proxy() => Err(CommandFault::NoProxy),
        () if words.contains(&"ca") && !mode.is_tls() => Err(CommandFault::NoTls),
        () if !words.contains(&"seed") => Err(CommandFault::NoSeed),
        () => Ok(()),
    }
}

/// The words that stand alone in braces.
fn words(command: &str) -> Vec<&str> {
    let mut before = None;
    let mut words = Vec::new();
    for (at, c) in command.char_indices() {
        let inside = command.get(at + 1..).filter(|_| c == '{' && before != Some('$'));
        let word = inside.and_then(|rest| rest.split_once('}')).map(|(word, _)| word);
        let is_name = |word: &&str| {
            word.starts_with(|c: char| c.is_ascii_alphabetic())
                && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        words.extend(word.filter(is_name));
        before = Some(c);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_filled_in_is_said() {
        for (command, mode, said) in [
            ("bot {seed}", Mode::Direct, ""),
            ("bot {seed} {a,b} ${HOME} ${x}y {} { print } {1}", Mode::Direct, ""),
            ("bot {seed} $((4 * {scale})) '{dir}'", Mode::Direct, ""),
            ("bot {seed} --proxy {proxy} {ca}", Mode::ProxyTls, ""),
            ("bot {sed}", Mode::Direct, "{sed} in the command, perhaps {seed}; there are {seed}"),
            ("bot {seed} {agnt}", Mode::Direct, "perhaps {agent}"),
            ("bot {seed} {whatever}", Mode::Direct, "{whatever} in the command; there are {seed}"),
            ("bot {SEED}", Mode::Direct, "perhaps {seed}"),
            ("bot {seed} {proxy}", Mode::Tls, "only with --proxy"),
            ("bot {seed} {ca}", Mode::Proxy, "only with --tls"),
            ("bot ${seed}", Mode::Direct, "does not take {seed}"),
            ("bot", Mode::Direct, "does not take {seed}"),
        ] {
            let fault = check(command, mode).err().map(|fault| fault.to_string());
            let fault = fault.unwrap_or_default();
            assert!(
                fault.contains(said) && fault.is_empty() == said.is_empty(),
                "{command}: {fault}"
            );
        }
    }
}
