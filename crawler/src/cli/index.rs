//! `comity index`: the search index looked after.

use std::path::Path;

use anyhow::bail;
use comity_storage::Store as _;
use serde_json::json;

use super::args::{IndexArgs, IndexCommand, RebuildArgs, VerifyArgs};
use super::progress::Meter;
use super::terminal::{Terminal, Tone, plural};
use super::{Exit, Usage, data_dir, open};
use crate::clock::Clock;
use crate::crawl::upkeep::{self, Place, Rebuilding, Rebuilt, Verified};
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
    let index = open::index_to_read(&data)?;
    let clock = Clock::real();
    let (store, settings) = open::earlier(&data, clock).await?;
    let verified = upkeep::verify(&store, &index, settings.bare_urls, clock.now()).await;
    store.close().await?;
    let verified = verified?;
    let leaving = verified.forbidden.iter().map(|(url, _)| url).chain(&verified.unwanted);
    let leaving: Vec<_> = leaving.map(String::as_str).collect();
    let withdrawn = args.withdraw && !leaving.is_empty();
    if withdrawn {
        let mut writer = IndexWriter::open_or_create(&open::index_dir(&data))?;
        upkeep::withdraw(&mut writer, &leaving)?;
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
            "unwanted_bare": found.unwanted.len(),
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
    let done = if withdrawn && forbidden > 0 { ", taken out now" } else { "" };
    terminal.line(format!(
        "{}, {} of them forbidden{done}",
        plural(found.documents, "document", "documents"),
        if forbidden == 0 { "none".to_owned() } else { forbidden.to_string() },
    ));
    terminal.line(terminal.paint(
        Tone::Faint,
        "(judged by what may be found, limits and dates; titles, texts and structured data are not \
         read again)",
    ));
    let rows = [
        (
            found.unwanted.len() as u64,
            if withdrawn {
                "bare addresses of an earlier run with --bare-urls are taken out now"
            } else {
                "of them bare addresses of an earlier run with --bare-urls, which the last run was \
                 without; --withdraw takes them out, and so does a rebuild"
            },
        ),
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
    let rebuilt = done?;
    tell_rebuilt(&rebuilt, args.json);
    Ok(if rebuilt.unreadable == 0 { Exit::Done } else { Exit::FoundErrors })
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
    let place = Place::of(&open::index_dir(data));
    place.begin()?;
    let from = Rebuilding {
        store,
        archive: &archive,
        dedupe: &settings.urls.dedupe,
        bare_urls: settings.bare_urls,
        now: clock.now(),
    };
    let mut meter = Meter::new("reading the archive");
    let writer = IndexWriter::open_with(place.new_index(), settings.index_memory)?;
    let rebuilt = upkeep::rebuild(&from, writer, |done, of| meter.show(done, of)).await;
    meter.end();
    let rebuilt = rebuilt?;
    if rebuilt.missing > rebuilt.pages && !args.partial {
        place.clear()?;
        bail!("{}", too_little(&rebuilt, &archive));
    }
    // Before it takes its place: a process that dies in between leaves nothing to be queued.
    upkeep::fetch_missing(&from, &Searcher::open(place.new_index())?).await?;
    if !has_index(store).await? {
        note_index(store).await?;
    }
    place.put()?;
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
            damage(rebuilt),
        )
    };
    format!(
        "{found}; the index was left as it is. Name the archive of this crawl by --warc, or say \
         --partial: then the next crawl fetches the others"
    )
}

fn damage(rebuilt: &Rebuilt) -> String {
    let files = || plural(rebuilt.files + rebuilt.unreadable, "file", "files");
    let mut text = String::new();
    if rebuilt.torn > 0 {
        text.push_str(&format!("; {} of its {} ends in the middle", rebuilt.torn, files()));
    }
    if rebuilt.unreadable > 0 {
        text.push_str(&format!("; {} of its {} cannot be read", rebuilt.unreadable, files()));
    }
    text
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
            "unreadable_files": rebuilt.unreadable,
        }));
        return;
    }
    terminal.line(format!("{} in the index again", plural(rebuilt.pages, "page", "pages")));
    if rebuilt.bare > 0 {
        terminal.line(format!("{} without content", plural(rebuilt.bare, "address", "addresses")));
    }
    if rebuilt.unreadable > 0 {
        let files = plural(rebuilt.unreadable, "file", "files");
        let text = format!("{files} of the archive could not be read, which the log names");
        terminal.line(terminal.paint(Tone::Bad, text));
    }
    if rebuilt.missing > 0 {
        terminal.line(format!(
            "{} not in the archive as the crawl had them last{}; the next crawl fetches them",
            plural(rebuilt.missing, "page is", "pages are"),
            damage(rebuilt),
        ));
    }
}
