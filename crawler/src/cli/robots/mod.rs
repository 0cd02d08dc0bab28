//! `comity robots`: what a robots.txt says, what is wrong with it, and how long it lasts.

mod check;
mod judged;
mod life;
mod lint;
mod subject;
mod timeline;
mod when;

use std::path::Path;

pub(super) use self::when::stage;

use super::Exit;
use super::args::{RobotsArgs, RobotsCommand};

pub(super) async fn run(args: RobotsArgs, config: Option<&Path>) -> anyhow::Result<Exit> {
    match args.command {
        None => check::run(args.check, config).await,
        Some(RobotsCommand::Check(args)) => check::run(args, config).await,
        Some(RobotsCommand::Lint(args)) => lint::run(args, config).await,
        Some(RobotsCommand::When(args)) => when::run(args, config).await,
    }
}
