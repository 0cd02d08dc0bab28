//! TLS: whom to trust, and what is wrong with a certificate, in words.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use thiserror::Error;

use crate::reasons::FailureReason;

/// A TLS handshake that failed.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
#[error("{host}: {problem}")]
pub struct TlsFault {
    /// The host that was asked for.
    pub host: String,
    /// What is wrong.
    pub problem: TlsProblem,
}

/// What can be wrong with a TLS handshake.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
pub enum TlsProblem {
    /// The certificate is out of date.
    #[error("its certificate has expired")]
    Expired,
    /// The certificate's time has not come.
    #[error("its certificate is not valid yet; check also this machine's clock")]
    NotYetValid,
    /// The certificate is for another host.
    #[error("its certificate is for another name")]
    WrongName,
    /// Nobody known vouches for the certificate.
    #[error(
        "its certificate is self-signed or from an unknown issuer; \
         if you trust that issuer, name its certificate as an extra CA"
    )]
    UnknownIssuer,
    /// The certificate was revoked.
    #[error("its certificate was revoked")]
    Revoked,
    /// Anything else about the certificate.
    #[error("its certificate is not acceptable: {0}")]
    Certificate(String),
    /// The server refused us.
    #[error("the server refused the handshake: {0}")]
    Refused(String),
    /// What came is not TLS, or none that both sides speak.
    #[error("the server does not speak TLS as this crawler does: {0}")]
    Incompatible(String),
}

impl TlsProblem {
    /// Why a visit fails that needs the connection.
    pub const fn reason(&self) -> FailureReason {
        match self {
            Self::Expired => FailureReason::TlsExpired,
            Self::NotYetValid => FailureReason::TlsNotYetValid,
            Self::WrongName => FailureReason::TlsWrongName,
            Self::UnknownIssuer => FailureReason::TlsUnknownIssuer,
            Self::Revoked => FailureReason::TlsRevoked,
            Self::Certificate(_) => FailureReason::TlsCertificate,
            Self::Refused(_) => FailureReason::TlsRefused,
            Self::Incompatible(_) => FailureReason::TlsIncompatible,
        }
    }

    /// Puts rustls' finding in words.
    pub(super) fn of(error: &rustls::Error) -> Self {
        if let rustls::Error::InvalidCertificate(certificate) = error {
            return Self::of_certificate(certificate);
        }
        if let rustls::Error::AlertReceived(alert) = error {
            return Self::Refused(format!("alert {alert:?}"));
        }
        Self::Incompatible(error.to_string())
    }

    fn of_certificate(error: &CertificateError) -> Self {
        use CertificateError as E;
        if matches!(error, E::Expired | E::ExpiredContext { .. }) {
            Self::Expired
        } else if matches!(error, E::NotValidYet | E::NotValidYetContext { .. }) {
            Self::NotYetValid
        } else if matches!(error, E::NotValidForName | E::NotValidForNameContext { .. }) {
            Self::WrongName
        } else if matches!(error, E::UnknownIssuer) || is_own_issuer(error) {
            Self::UnknownIssuer
        } else if matches!(error, E::Revoked) {
            Self::Revoked
        } else {
            Self::Certificate(error.to_string())
        }
    }
}

/// A self-signed certificate that says it is an authority is found unfit to be a server's before
/// its issuer is looked for; to a reader it is a self-signed certificate all the same.
fn is_own_issuer(error: &CertificateError) -> bool {
    matches!(error, CertificateError::Other(_)) && error.to_string().contains("CaUsedAsEndEntity")
}

/// An extra CA that cannot be used.
#[derive(Debug, Error)]
pub enum CaError {
    /// The file cannot be read as PEM.
    #[error("not a readable PEM file")]
    Unreadable(#[source] rustls::pki_types::pem::Error),
    /// There is no certificate in it.
    #[error("no certificate in it; it must have a \"BEGIN CERTIFICATE\" section")]
    Empty,
    /// A certificate in it cannot be a CA.
    #[error("a certificate in it cannot be trusted as a CA")]
    Unusable(#[source] rustls::Error),
    /// This build's cryptography is not complete.
    #[error("TLS could not be set up")]
    Setup(#[source] rustls::Error),
}

/// Trusts the web's CAs and those of the extra file.
pub(crate) fn client_config(extra_ca: Option<&Path>) -> Result<ClientConfig, CaError> {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if let Some(path) = extra_ca {
        add(&mut roots, path)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(CaError::Setup)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}

fn add(roots: &mut RootCertStore, path: &Path) -> Result<(), CaError> {
    let mut found = false;
    for certificate in CertificateDer::pem_file_iter(path).map_err(CaError::Unreadable)? {
        let certificate = certificate.map_err(CaError::Unreadable)?;
        roots.add(certificate).map_err(CaError::Unusable)?;
        found = true;
    }
    if found { Ok(()) } else { Err(CaError::Empty) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extra_ca_must_be_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ca.pem");
        assert!(matches!(client_config(Some(&path)), Err(CaError::Unreadable(_))));
        std::fs::write(&path, "no certificate").unwrap();
        assert!(matches!(client_config(Some(&path)), Err(CaError::Empty)));
        let junk = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        std::fs::write(&path, junk).unwrap();
        assert!(matches!(client_config(Some(&path)), Err(CaError::Unusable(_))));
        assert!(client_config(None).is_ok());
    }
}
