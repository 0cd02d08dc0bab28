//! The lab's own certificate authority: a certificate for each host, made when it is asked for.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

/// Issues certificates that trust in [`Authority::pem`] makes good.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    made: Mutex<HashMap<String, TlsAcceptor>>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Authority {
    pub(super) fn new() -> io::Result<Self> {
        let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "comity-lab, for tests only");
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let pem = params.self_signed(&key).map_err(io::Error::other)?.pem();
        Ok(Self { issuer: Issuer::new(params, key), pem, made: Mutex::default() })
    }

    /// The authority's own certificate, for the crawler to trust.
    pub(super) fn pem(&self) -> &str {
        &self.pem
    }

    /// What answers TLS for a host name or an address.
    pub(super) fn acceptor(&self, host: &str) -> io::Result<TlsAcceptor> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(acceptor) = made.get(host) {
            return Ok(acceptor.clone());
        }
        let params = CertificateParams::new(vec![host.to_owned()]).map_err(io::Error::other)?;
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(io::Error::other)?;
        let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)
            .map_err(io::Error::other)?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        made.insert(host.to_owned(), acceptor.clone());
        Ok(acceptor)
    }
}
