//! A look over all sites at once, for whoever wants to know how a whole crawl stands.

use std::ops::ControlFlow;

use comity_compliance::robots::RobotsRecord;
use comity_compliance::{Origin, Site, SitePace};
use url::Url;

use super::LocalStore;
use crate::engine::Engine;
use crate::key;
use crate::record::{RobotsRow, SiteRow, decode};
use crate::store::StoreError;

/// The kind and the hash of a key of a robots.txt; what follows numbers its parts.
const ROBOTS_KEY_BYTES: usize = 9;

impl<E: Engine> LocalStore<E> {
    /// The sites with their paces, at most `max`, in no order that means anything.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn paces(&self, max: usize) -> Result<Vec<(Site, SitePace)>, StoreError> {
        self.read(move |_, engine| {
            let mut rows = Vec::new();
            engine.scan(&[key::SITE], &[key::SITE], max, &mut |_, value| {
                rows.push(decode::<SiteRow>(value, "a site record"));
                ControlFlow::Continue(())
            })?;
            let site = |row: SiteRow| (Site::from_host(&row.host), row.pace());
            rows.into_iter().map(|row| row.map(site)).collect()
        })
        .await
    }

    /// The origins whose robots.txt was asked for with what is known of it, at most `max`, in no
    /// order that means anything.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn robots_records(
        &self,
        max: usize,
    ) -> Result<Vec<(Origin, RobotsRecord)>, StoreError> {
        self.read(move |_, engine| {
            let mut files: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            engine.scan(&[key::ROBOTS], &[key::ROBOTS], usize::MAX, &mut |key, part| {
                let key = key.get(..ROBOTS_KEY_BYTES).unwrap_or(key);
                let is_full = files.len() >= max;
                match files.last_mut() {
                    Some((last, bytes)) if last == key => bytes.extend_from_slice(part),
                    Some(_) | None if is_full => return ControlFlow::Break(()),
                    Some(_) | None => files.push((key.to_vec(), part.to_vec())),
                }
                ControlFlow::Continue(())
            })?;
            let mut records = Vec::with_capacity(files.len());
            for (_, bytes) in files {
                let row: RobotsRow = decode(&bytes, "a robots.txt record")?;
                let origin = Url::parse(row.origin()).ok().and_then(|url| Origin::of(&url).ok());
                if let Some(origin) = origin
                    && let Some(parts) = row.into_parts(&origin)
                {
                    records.push((origin, RobotsRecord::from_parts(parts)));
                }
            }
            Ok(records)
        })
        .await
    }
}
