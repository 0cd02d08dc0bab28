//! The command line: arguments in, exit code out, one file a command.

mod args;
mod crawl;
mod demo;
mod engine;
mod explain;
mod export;
mod extract;
mod flags;
mod index;
mod init;
mod json_lines;
mod open;
mod progress;
mod reading;
mod robots;
mod rules;
mod search;
mod sitemap;
mod status;
mod terminal;
mod visible;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser as _;
use tracing_subscriber::EnvFilter;

use self::args::{Cli, Command};
use crate::config::{Config, ConfigError};
use crate::extract::rules::RuleFault;
use crate::settings::SettingsError;

/// How the program ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Exit {
    Done,
    /// Of a file that was looked over.
    FoundErrors,
    NothingFetched,
}

/// Arguments or settings that cannot be: exit code 2, as clap's own.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Err(error) = log_to_stderr(&cli.log) {
        return fail(&error);
    }
    match run(cli) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::FoundErrors) => ExitCode::from(1),
        Ok(Exit::NothingFetched) => ExitCode::from(3),
        Err(error) => fail(&error),
    }
}

fn run(cli: Cli) -> anyhow::Result<Exit> {
    let config = cli.config.as_deref();
    match cli.command {
        Command::Crawl(args) => runtime()?.block_on(crawl::run(args, config)),
        Command::Search(args) => search::run(&args, config),
        Command::Explain(args) => runtime()?.block_on(explain::run(args, config)),
        Command::Status(args) => runtime()?.block_on(status::run(args, config)),
        Command::Robots(args) => runtime()?.block_on(robots::run(args, config)),
        Command::Rules(args) => rules::run(&args),
        Command::Export(args) => runtime()?.block_on(export::run(args, config)),
        Command::Sitemap(args) => sitemap::run(&args),
        Command::Engine => engine::run(),
        Command::Extract(args) => runtime()?.block_on(extract::run(args, config)),
        Command::Demo(args) => runtime()?.block_on(demo::run(args)),
        Command::Index(args) => runtime()?.block_on(index::run(args, config)),
        Command::Init(args) => init::run(&args),
    }
}

/// One sentence with its causes, for people.
fn fail(error: &anyhow::Error) -> ExitCode {
    progress::say(&format!("comity: {error:#}"));
    let usage = error.chain().any(|cause| {
        cause.is::<Usage>()
            || cause.is::<ConfigError>()
            || cause.is::<SettingsError>()
            || cause.is::<RuleFault>()
    });
    ExitCode::from(if usage { 2 } else { 1 })
}

/// Threads for what blocks: reads of the store, large pages, the index. Each keeps memory of its own.
const BLOCKING_THREADS: usize = 16;

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().max_blocking_threads(BLOCKING_THREADS).build();
    runtime.context("could not start the asynchronous runtime")
}

fn log_to_stderr(filter: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(filter)
        .map_err(|e| Usage(format!("--log {filter}: {e}; try warn, info or comity=debug")))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(progress::LogLines)
        .with_target(false)
        .with_ansi(false)
        .init();
    Ok(())
}

/// The settings file: the one that is named, else `comity.toml` here, else the defaults.
fn read_config(named: Option<&Path>) -> Result<Config, ConfigError> {
    Ok(config_file(named)?.unwrap_or_default())
}

/// What a settings file says, if there is one.
fn config_file(named: Option<&Path>) -> Result<Option<Config>, ConfigError> {
    let here = Path::new("comity.toml");
    let path = named.or_else(|| here.is_file().then_some(here));
    path.map(Config::read).transpose()
}

/// The data directory: the flag, else the settings file.
fn data_dir(flag: Option<PathBuf>, config: Option<&Path>) -> anyhow::Result<PathBuf> {
    match flag {
        Some(data) => Ok(data),
        None => Ok(read_config(config)?.storage.data),
    }
}
