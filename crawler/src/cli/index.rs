//! `comity index`: the search index looked after.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use comity_storage::Store as _;
use serde_json::json;

use super::args::{IndexArgs, IndexCommand, RebuildArgs, VerifyArgs};
use super::progress::Meter;
use super::terminal::{Terminal, Tone, plural};
use super::{Exit, Usage, data_dir, open};
use crate::clock::Clock;
use crate::crawl::upkeep::{self, Rebuilding, Rebuilt, Verified};
use crate::crawl::{has_index, note_index};
use crate::index::{IndexWriter, Searcher};
use crate::settings::Settings;

pub(super) async fn run(args: IndexArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    match args.command {
        IndexCommand::Verify(args) => verify(args, config).await,
        IndexCommand::Rebuild(args) => rebuild(args, config).await,
    }
}

async fn verify(args: VerifyArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let data = data_dir(args.data.data.clone(), config)?;
    open::not_in_use(&data, "index verify")?;
    let index = Searcher::open(&open::index_dir(&data))?;
    let clock = Clock::real();
    let (store, settings) = open::earlier(&data, clock).await?;
    let verified = upkeep::verify(&store, &index, settings.bare_urls, clock.now()).await;
    store.close().await?;
    let verified = verified?;
    let withdrawn = args.withdraw && !verified.forbidden.is_empty();
    if withdrawn {
        let mut writer = IndexWriter::open_or_create(&open::index_dir(&data))?;
        upkeep::withdraw(&mut writer, &verified.forbidden)?;
        writer.close()?;
    }
    tell_verified(&verified, withdrawn, args.json);
    Ok(if verified.forbidden.is_empty() || withdrawn { Exit::Done } else { Exit::FoundErrors })
}

/// Forbidden documents that are listed for people.
const LISTED: usize = 20;

fn tell_verified(found: &Verified, withdrawn: bool, as_json: bool) {
    let terminal = Terminal::new();
    if as_json {
        let forbidden = found.forbidden.iter();
        let forbidden: Vec<_> =
            forbidden.map(|(url, why)| json!({ "url": url, "reason": why })).collect();
        terminal.json(&json!({
            "documents": found.documents,
            "forbidden": forbidden,
            "withdrawn": withdrawn,
            "expired": found.expired,
            "missing": found.missing,
            "waiting": found.waiting,
        }));
        return;
    }
    for (url, why) in found.forbidden.iter().take(LISTED) {
        terminal.line(format!("{}  {url}", terminal.paint(Tone::Bad, why)));
    }
    if found.forbidden.len() > LISTED {
        terminal.line(format!("… and {} more (--json lists all)", found.forbidden.len() - LISTED));
    }
    let forbidden = found.forbidden.len() as u64;
    let done = if withdrawn { ", taken out now" } else { "" };
    terminal.line(format!(
        "{}, {} of them forbidden{done}",
        plural(found.documents, "document", "documents"),
        if forbidden == 0 { "none".to_owned() } else { forbidden.to_string() },
    ));
    let rows = [
        (found.expired, "expired since; no search finds them, and the next crawl takes them out"),
        (found.waiting, "waiting to be changed, as after a crash; the next crawl does it"),
        (
            found.missing,
            "of the pages that may be shown are not in the index, as those of runs with \
             --no-index; `comity index rebuild` brings what is archived, and queues the others",
        ),
    ];
    for (count, what) in rows.into_iter().filter(|(count, _)| *count > 0) {
        terminal.line(format!("{count} {what}"));
    }
}

async fn rebuild(args: RebuildArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    let data = data_dir(args.data.data.clone(), config)?;
    open::not_in_use(&data, "index rebuild")?;
    let clock = Clock::real();
    let (store, settings) = open::earlier(&data, clock).await?;
    let done = rebuild_from(&store, &settings, &args, &data, &clock).await;
    store.close().await?;
    tell_rebuilt(&done?, args.json);
    Ok(Exit::Done)
}

async fn rebuild_from(
    store: &open::AnyStore,
    settings: &Settings,
    args: &RebuildArgs,
    data: &Path,
    clock: &Clock,
) -> anyhow::Result<Rebuilt> {
    let archive = args.warc.clone().or_else(|| settings.warc.as_ref().map(|warc| warc.dir.clone()));
    let Some(archive) = archive else {
        let why = "an index is made anew from an archive, and the last run kept none: name the \
                   directory of its WARC files by --warc";
        return Err(Usage(why.into()).into());
    };
    if !archive.is_dir() {
        bail!("there is no archive in {}: --warc names its directory", archive.display());
    }
    let place = Place::of(data)?;
    let from = Rebuilding {
        store,
        archive: &archive,
        dedupe: &settings.urls.dedupe,
        bare_urls: settings.bare_urls,
        now: clock.now(),
    };
    let mut meter = Meter::new("reading the archive");
    let writer = IndexWriter::open_with(&place.new, settings.index_memory)?;
    let rebuilt = upkeep::rebuild(&from, writer, |done, of| meter.show(done, of)).await;
    meter.end();
    let rebuilt = rebuilt?;
    if rebuilt.missing > rebuilt.pages && !args.partial {
        remove(&place.new)?;
        bail!("{}", too_little(&rebuilt, &archive));
    }
    place.put()?;
    if !has_index(store).await? {
        note_index(store).await?;
    }
    upkeep::fetch_missing(&from, &Searcher::open(&place.index)?).await?;
    Ok(rebuilt)
}

/// Why a good index is not given up for this one.
fn too_little(rebuilt: &Rebuilt, archive: &Path) -> String {
    let found = if rebuilt.files == 0 {
        format!("there are no WARC files in {}", archive.display())
    } else {
        format!(
            "the archive in {} has {} of {} as the crawl had them last{}",
            archive.display(),
            rebuilt.pages,
            plural(rebuilt.pages + rebuilt.missing, "page", "pages"),
            torn(rebuilt),
        )
    };
    format!(
        "{found}; the index was left as it is. Name the archive of this crawl by --warc, or say \
         --partial: then the next crawl fetches the others"
    )
}

fn torn(rebuilt: &Rebuilt) -> String {
    match rebuilt.torn {
        0 => String::new(),
        torn => {
            format!("; {torn} of its {} ends in the middle", plural(rebuilt.files, "file", "files"))
        }
    }
}

/// Where the index is, and where a new one is made beside it.
struct Place {
    index: PathBuf,
    new: PathBuf,
    old: PathBuf,
}

impl Place {
    /// Clears away what an earlier try left.
    fn of(data: &Path) -> anyhow::Result<Self> {
        let index = open::index_dir(data);
        let (new, old) = (index.with_extension("new"), index.with_extension("old"));
        // Broken off between two renamings: the old one is the only one.
        if !index.exists() && old.exists() {
            std::fs::rename(&old, &index)
                .with_context(|| format!("could not rename {}", old.display()))?;
        }
        for left in [&new, &old] {
            remove(left)?;
        }
        Ok(Self { index, new, old })
    }

    fn put(&self) -> anyhow::Result<()> {
        let moved = || -> std::io::Result<()> {
            if self.index.exists() {
                std::fs::rename(&self.index, &self.old)?;
            }
            std::fs::rename(&self.new, &self.index)
        };
        moved().with_context(|| {
            format!("could not put the index in its place {}", self.index.display())
        })?;
        remove(&self.old)
    }
}

fn remove(dir: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("could not remove {}", dir.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn tell_rebuilt(rebuilt: &Rebuilt, as_json: bool) {
    let terminal = Terminal::new();
    if as_json {
        terminal.json(&json!({
            "pages": rebuilt.pages,
            "bare": rebuilt.bare,
            "to_fetch": rebuilt.missing,
            "files": rebuilt.files,
            "torn_files": rebuilt.torn,
        }));
        return;
    }
    terminal.line(format!("{} in the index again", plural(rebuilt.pages, "page", "pages")));
    if rebuilt.bare > 0 {
        terminal.line(format!("{} without content", plural(rebuilt.bare, "address", "addresses")));
    }
    if rebuilt.missing > 0 {
        terminal.line(format!(
            "{} not in the archive as the crawl had them last{}; the next crawl fetches them",
            plural(rebuilt.missing, "page is", "pages are"),
            torn(rebuilt),
        ));
    }
}
