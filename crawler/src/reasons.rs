//! The crawler's own reason codes, in tables as those of compliance: why a visit failed, why a
//! found link is left, and what must be known before there is a verdict.

use comity_compliance::robots::Lint;
use comity_compliance::{
    CanonicalReason, GroundsReason, LeftOut, NoFollow, NotListed, RefusalReason, SitemapFault,
    WaitCause, Withheld, reasons as table,
};

table! {
    /// Why a visit brought no page.
    FailureReason {
        /// Not a URL that HTTP can ask for.
        UnsupportedUrl = "unsupported-url", "RT-004",
            "The URL has no host or another scheme than http and https; nothing to do.";
        /// The host name does not exist, or has no address.
        DnsNotFound = "dns-not-found", "HT-005",
            "The site owner can enter the name in DNS, or correct the link; the operator checks the spelling of a seed.";
        /// The name servers answered with an error.
        DnsServerFailure = "dns-server-failure", "HT-005",
            "The site owner can mend the domain's name servers; if all sites fail so, the operator looks at this machine's resolver.";
        /// The name servers did not answer in time.
        DnsTimeout = "dns-timeout", "HT-005",
            "The name servers are slow or cannot be reached; if all sites fail so, the operator looks at this machine's resolver.";
        /// This machine has no name server to ask.
        DnsUnconfigured = "dns-unconfigured", "HT-005",
            "The operator names a name server in /etc/resolv.conf.";
        /// It cannot be a host name.
        DnsMalformed = "dns-malformed", "HT-005",
            "No such name can be looked up; the site owner can correct the link.";
        /// No connection came about in time.
        ConnectTimeout = "connect-timeout", "HT-005",
            "The host may be down, or a firewall drops our packets; the site owner can let the crawler in, the operator can wait longer (network.connect_timeout).";
        /// The connection was refused or failed.
        Connect = "connect", "HT-005",
            "Nothing answers at this address and port; the site owner can start the server or let the crawler in.";
        /// The certificate has expired.
        TlsExpired = "tls-expired", "HT-005, AM-21",
            "The site owner can renew the certificate; the operator checks this machine's clock.";
        /// The certificate is not valid yet.
        TlsNotYetValid = "tls-not-yet-valid", "HT-005, AM-21",
            "The site owner can install a certificate that is valid now; the operator checks this machine's clock.";
        /// The certificate is for another host name.
        TlsWrongName = "tls-wrong-name", "HT-005, AM-21",
            "The site owner can add this host name to the certificate.";
        /// Nobody known vouches for the certificate.
        TlsUnknownIssuer = "tls-unknown-issuer", "HT-005, AM-21",
            "The site owner can send the whole chain of certificates; the operator of a private authority can name it (network.ca_file).";
        /// The certificate was revoked.
        TlsRevoked = "tls-revoked", "HT-005, AM-21",
            "The site owner can install a new certificate.";
        /// The certificate is not acceptable for another reason.
        TlsCertificate = "tls-certificate", "HT-005, AM-21",
            "The detail says what is wrong; the site owner can install a correct certificate.";
        /// The server refused the handshake.
        TlsRefused = "tls-refused", "HT-005, AM-21",
            "The server broke the secure connection off; the site owner can look at its TLS settings for this host name.";
        /// What came is not TLS, or none that both sides speak.
        TlsIncompatible = "tls-incompatible", "HT-005, AM-21",
            "The site owner can offer TLS 1.2 or 1.3 at this port, or link to http.";
        /// Connected, but no response head came in time.
        FirstByteTimeout = "first-byte-timeout", "HT-005",
            "The server takes long to answer; the site owner can make it quicker, the operator can wait longer (network.first_byte_timeout).";
        /// The time of the whole fetch ran out before a response head came.
        Timeout = "timeout", "HT-005",
            "The server is too slow; the operator can wait longer (network.request_timeout).";
        /// The server closed the connection instead of answering.
        Closed = "closed", "HT-005",
            "The server hung up; the site owner can look for a crash, or for a rule that rejects the crawler.";
        /// The server had closed the connection since its last answer.
        StaleConnection = "stale-connection", "RFC 9112 section 9.3.1",
            "The server most likely never read the request, so it is made again at once and says nothing of the site; nothing to do.";
        /// The server answered 421: not over this connection.
        Misdirected = "misdirected", "HT-006",
            "The host is asked over HTTP/1.1 from now on; nothing to do.";
        /// The connection broke before the server had answered.
        Interrupted = "interrupted", "HT-005",
            "The network or the server failed; the URL is asked again later.";
        /// The response head is too large.
        HeadTooLarge = "head-too-large", "operator's guard",
            "The site owner can send fewer or shorter header lines.";
        /// What came is not HTTP.
        Protocol = "protocol", "HT-005, AM-22",
            "The site owner can correct the server's answer, or the link if no web server is meant to be there.";
        /// The body's content coding is unknown or its data is corrupt.
        Coding = "coding", "HT-006, AM-15",
            "The site owner can send the page as Content-Encoding says, in gzip, deflate, br or none.";
        /// The body expands to far more than was sent.
        Expansion = "expansion", "operator's guard",
            "It looks like a decompression bomb; the site owner can send the page uncompressed.";
        /// The connection ended before the whole body had come.
        BodyCut = "body-cut", "HT-005, AM-16",
            "What is missing may hold a rule, so the page counts as not fetched and is asked again; the site owner can look why the server breaks off.";
        /// The framing of the body is broken.
        BodyFraming = "body-framing", "HT-005, AM-16",
            "The site owner can correct the chunks or the Content-Length that the server sends.";
        /// The time of the whole fetch ran out in the middle of the body.
        BodyTimeout = "body-timeout", "HT-005, AM-16",
            "The server sends too slowly; the operator can wait longer (network.request_timeout).";
        /// The body's content coding ends in the middle.
        BodyCoding = "body-coding", "HT-005, AM-15",
            "The site owner can look why the server's compressed answer is not complete.";
        /// The site answered 429.
        TooManyRequests = "too-many-requests", "HT-004, HT-010, RL-003",
            "The site wants fewer requests and is asked less often from now on; the operator can set a longer interval (politeness.interval).";
        /// The site answered with a server error.
        ServerError = "server-error", "HT-004, RL-003",
            "The site is in trouble and is asked less often; the site owner can mend the error.";
        /// A status that answers none of our requests.
        OddStatus = "odd-status", "HT-001, HT-008",
            "The server answers with a status that was not asked for, such as 304, or that does not exist; the site owner can correct it.";
        /// The proxy is out of order, or asks for a name and a password.
        Proxy = "proxy", "operator's proxy",
            "The proxy could not be used; the operator can correct --proxy, or wait until the proxy is back. No site is to blame.";
        /// The proxy could not reach the site.
        BeyondProxy = "beyond-proxy", "HT-005",
            "The proxy says that the site cannot be reached; it is asked again later.";
        /// The FTP server refused.
        FtpRefused = "ftp-refused", "RT-004, AM-20",
            "The FTP server refused the request; its owner can permit anonymous reading.";
        /// A redirect that leads to no http or https URL.
        BadRedirect = "bad-redirect", "HT-002, HT-012",
            "The site owner can name an http or https URL in the Location header.";
        /// A redirect that leads to itself.
        RedirectLoop = "redirect-loop", "HT-012",
            "The site owner can let the redirect end at a page; cookies, which this crawler keeps none of, are a frequent cause.";
        /// More redirects in a row than are followed.
        TooManyRedirects = "too-many-redirects", "HT-002",
            "The site owner can let the first URL lead straight to the last.";
    }
}

impl FailureReason {
    /// Why an answer of this status, which is neither content nor a withdrawal, is no page.
    pub const fn of_status(status: u16) -> Self {
        match status {
            429 => Self::TooManyRequests,
            500..=599 => Self::ServerError,
            _ => Self::OddStatus,
        }
    }
}

table! {
    /// Why links of a page are not even known.
    CutReason {
        /// The page has more links than are kept.
        ManyLinks = "many-links", "operator's guard",
            "The first ten thousand links of a page are kept; the site owner can spread the others over several pages, or list them in a sitemap.";
        /// The address is longer than any that is kept.
        LongLink = "long-link", "operator's guard",
            "The site owner can shorten the address; nothing that is linked properly grows so long.";
        /// Meta tags for robots, or a part of one, beyond what is kept.
        ManyRules = "many-rules", "AM-60",
            "A page's rules beyond a thousand tags, or 16 KiB in one, are not seen; the site owner can say them once.";
    }
}

table! {
    /// Why a hook of the operator's own program left something.
    HookReason {
        /// The program's URL filter does not want the link.
        UrlFilter = "url-filter", "operator's choice",
            "The line link-left of audit.jsonl has the filter's own reason; the operator can change the filter.";
    }
}

table! {
    /// Why the index may not hold a document as it does, where no rule of its page is the reason.
    IndexFault {
        /// The crawl never read it.
        NeverRead = "never-read", "RT-049",
            "The store knows no content of this address, as when the index is another crawl's; `comity index verify --withdraw` takes it out.";
        /// Another page has the same content and stands for it.
        CopyOfAnother = "copy-of-another", "LK-007",
            "The page that stands for it is in the index in its place; `comity index verify --withdraw` takes it out.";
        /// It would show more than the page's limits permit.
        LooseLimits = "loose-limits", "RM-024, RM-026",
            "The index is older than the page's rules; `comity index verify --withdraw` takes it out, and `comity index rebuild` brings it back with the right ones.";
        /// It would be shown after the page's own date.
        LateExpiry = "late-expiry", "RM-031",
            "The index is older than the page's rules; `comity index verify --withdraw` takes it out, and `comity index rebuild` brings it back with the right date.";
    }
}

table! {
    /// Why there is no verdict yet.
    UndecidedReason {
        /// robots.txt must be fetched before the URL can be judged.
        RobotsNotFetched = "robots-not-fetched", "RT-030, RFC 9309 section 2.4",
            "The site's robots.txt was never fetched, or a refresh is due: a crawl fetches it first and then decides; nothing to do.";
    }
}

/// What can be done about a code, and its clause, from whichever table it is.
pub fn advice(code: &str) -> Option<(&'static str, &'static str)> {
    /// Looks the code up in each table.
    macro_rules! first_of {
        ($($table:ident),+) => {
            None$(.or_else(|| $table::from_code(code).map(|it| (it.advice(), it.clause()))))+
        };
    }
    first_of!(
        FailureReason,
        LeftOut,
        CutReason,
        HookReason,
        IndexFault,
        CanonicalReason,
        UndecidedReason,
        GroundsReason,
        RefusalReason,
        WaitCause,
        Withheld,
        NoFollow,
        NotListed,
        SitemapFault,
        Lint
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_reason_teaches() {
        let rows = (FailureReason::ALL.iter())
            .map(|r| (r.code(), r.clause(), r.meaning(), r.advice()))
            .chain(HookReason::ALL.iter().map(|r| (r.code(), r.clause(), r.meaning(), r.advice())))
            .chain(CutReason::ALL.iter().map(|r| (r.code(), r.clause(), r.meaning(), r.advice())))
            .chain(IndexFault::ALL.iter().map(|r| (r.code(), r.clause(), r.meaning(), r.advice())))
            .chain(
                UndecidedReason::ALL
                    .iter()
                    .map(|r| (r.code(), r.clause(), r.meaning(), r.advice())),
            );
        let mut seen = HashSet::new();
        for (code, clause, meaning, told) in rows {
            assert!(seen.insert(code), "{code} twice");
            assert!(!clause.is_empty() && meaning.ends_with('.') && told.ends_with('.'), "{code}");
            assert_eq!(advice(code), Some((told, clause)));
        }
        assert_eq!(advice("no-such-code"), None);
        assert!(advice("robots-disallow").is_some() && advice("page-nofollow").is_some());
    }
}
