//! Who crawls: the product tokens that robots.txt groups and page rules are
//! matched against, and the User-Agent header that people read.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use url::Url;

use crate::CrawlerClass;

/// A crawler's name in robots.txt: one or more of `A-Z a-z _ -` (RFC 9309 §2.2.1; RT-069).
///
/// Compared without regard to ASCII case.
#[derive(Clone, Debug, Eq)]
pub struct ProductToken(String);

impl ProductToken {
    /// Takes a name as a product token.
    ///
    /// # Errors
    /// [`IdentityError::Token`] if it is empty or has a character outside `A-Z a-z _ -`:
    /// no robots.txt group can name such a crawler.
    pub fn new(name: &str) -> Result<Self, IdentityError> {
        let valid = |b: u8| b.is_ascii_alphabetic() || b == b'_' || b == b'-';
        if name.is_empty() || !name.bytes().all(valid) {
            return Err(IdentityError::Token(name.into()));
        }
        Ok(Self(name.into()))
    }

    /// The token as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `name` is this token, ASCII case ignored.
    pub fn is(&self, name: &str) -> bool {
        self.0.eq_ignore_ascii_case(name)
    }
}

impl PartialEq for ProductToken {
    fn eq(&self, other: &Self) -> bool {
        self.is(&other.0)
    }
}

impl fmt::Display for ProductToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a site owner reaches whoever runs the crawl.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Contact {
    /// A page that says what the crawler does and how to reach its operator.
    Page(Url),
    /// A mailbox.
    Mail(String),
}

impl Contact {
    /// Reads an `http(s)` URL, or a mail address with or without `mailto:`.
    ///
    /// # Errors
    /// [`IdentityError::Contact`] if it is neither.
    pub fn parse(text: &str) -> Result<Self, IdentityError> {
        let mail = text.strip_prefix("mailto:").unwrap_or(text);
        if is_mailbox(mail) {
            return Ok(Self::Mail(mail.into()));
        }
        match Url::parse(text) {
            Ok(page) if matches!(page.scheme(), "http" | "https") => Ok(Self::Page(page)),
            _ => Err(IdentityError::Contact(text.into())),
        }
    }
}

impl fmt::Display for Contact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page(page) => f.write_str(page.as_str()),
            Self::Mail(mail) => f.write_str(mail),
        }
    }
}

/// `local@host.tld`, close enough to catch a slip; nothing is sent to it.
fn is_mailbox(text: &str) -> bool {
    let printable = text.bytes().all(|b| b.is_ascii_graphic() && !b"<>(),;:\"/\\".contains(&b));
    match text.split_once('@') {
        Some((local, host)) => {
            printable
                && !local.is_empty()
                && !host.contains('@')
                && host.trim_matches('.').contains('.')
        }
        None => false,
    }
}

/// Who crawls: ordered product tokens (own first, then fall-backs), and how to reach the operator.
///
/// robots.txt: the group of the first token that any group names decides; if none is named, `*`
/// (RT-062, UA-002). Page rules: every token counts, and `robots` for a search crawler (AM-42).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Identity {
    tokens: Vec<ProductToken>,
    class: CrawlerClass,
    version: String,
    contact: Option<Contact>,
    user_agent: Option<String>,
}

impl Identity {
    /// A search crawler that answers to one product token.
    pub fn new(token: ProductToken) -> Self {
        Self {
            tokens: vec![token],
            class: CrawlerClass::Search,
            version: "0.1".into(),
            contact: None,
            user_agent: None,
        }
    }

    /// Also answers to `token` where no earlier one is named.
    #[must_use]
    pub fn with_fallback(mut self, token: ProductToken) -> Self {
        if !self.tokens.contains(&token) {
            self.tokens.push(token);
        }
        self
    }

    /// Is of another class: which page rules bind it depends on that. What a crawl may fetch does
    /// not (AM-35).
    #[must_use]
    pub fn with_class(mut self, class: CrawlerClass) -> Self {
        self.class = class;
        self
    }

    /// The version that follows the token in the User-Agent header.
    #[must_use]
    pub fn with_version(mut self, version: &str) -> Self {
        self.version = version.chars().filter(char::is_ascii_graphic).collect();
        self
    }

    /// How a site owner reaches the operator.
    #[must_use]
    pub fn with_contact(mut self, contact: Contact) -> Self {
        self.contact = Some(contact);
        self
    }

    /// Sends this User-Agent header instead of the one made from token and contact.
    ///
    /// # Errors
    /// [`IdentityError::UserAgent`] if it could not stand in a header, or does not contain the
    /// product token (RFC 9309 §2.2.1: a site owner must be able to find it).
    pub fn with_user_agent(mut self, header: &str) -> Result<Self, IdentityError> {
        let printable = header.bytes().all(|b| (b' '..=b'~').contains(&b));
        let named =
            header.to_ascii_lowercase().contains(&self.token().as_str().to_ascii_lowercase());
        if !printable || !named {
            return Err(IdentityError::UserAgent(header.into()));
        }
        self.user_agent = Some(header.into());
        Ok(self)
    }

    /// The crawler's own token.
    pub fn token(&self) -> &ProductToken {
        &self.tokens[0]
    }

    /// All tokens, own first, then the fall-backs in order.
    pub fn tokens(&self) -> &[ProductToken] {
        &self.tokens
    }

    /// Its class.
    pub fn class(&self) -> CrawlerClass {
        self.class
    }

    /// How to reach the operator, if it is known.
    pub fn contact(&self) -> Option<&Contact> {
        self.contact.as_ref()
    }

    /// The User-Agent header, such as `Mozilla/5.0 (compatible; comitybot/0.1; +https://example.org/bot)`.
    pub fn user_agent(&self) -> String {
        if let Some(header) = &self.user_agent {
            return header.clone();
        }
        let reach = match &self.contact {
            Some(Contact::Page(page)) => format!("; +{page}"),
            Some(Contact::Mail(mail)) => format!("; +mailto:{mail}"),
            None => String::new(),
        };
        format!("Mozilla/5.0 (compatible; {}/{}{reach})", self.token(), self.version)
    }
}

/// A crawler that cannot be named so.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum IdentityError {
    /// Not a product token.
    Token(String),
    /// Neither an http(s) URL nor a mail address.
    Contact(String),
    /// Not a header, or without the product token.
    UserAgent(String),
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(name) => write!(
                f,
                "\"{name}\" is not a product token: use letters, - and _ only, without a version (RFC 9309 section 2.2.1)"
            ),
            Self::Contact(text) => {
                write!(f, "\"{text}\" is neither an http(s) URL nor a mail address")
            }
            Self::UserAgent(header) => write!(
                f,
                "User-Agent \"{header}\" must be printable ASCII and contain the product token"
            ),
        }
    }
}

impl core::error::Error for IdentityError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_letters_dash_underscore() {
        for good in ["comitybot", "Foo_Bot-News", "a"] {
            assert!(ProductToken::new(good).is_ok(), "{good}");
        }
        for bad in ["", "foo/1.0", "foo bot", "bot2", "*", "bøt"] {
            assert!(ProductToken::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn contacts() {
        for good in [
            "https://example.org/bot",
            "http://x.example",
            "me@example.org",
            "mailto:me@example.org",
        ] {
            assert!(Contact::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "example.org",
            "ftp://example.org",
            "me@",
            "@x.org",
            "a@b",
            "javascript:1",
            "a b@x.org",
        ] {
            assert!(Contact::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn header_names_token_and_contact() {
        let identity = Identity::new(ProductToken::new("comitybot").unwrap())
            .with_contact(Contact::parse("https://example.org/bot").unwrap());
        assert_eq!(
            identity.user_agent(),
            "Mozilla/5.0 (compatible; comitybot/0.1; +https://example.org/bot)"
        );
        assert!(identity.clone().with_user_agent("other/1.0").is_err());
        assert_eq!(identity.with_user_agent("ComityBot/2").unwrap().user_agent(), "ComityBot/2");
    }
}
