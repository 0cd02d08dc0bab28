//! `comity init`

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};

use anyhow::{Context as _, bail};

use super::Exit;
use super::args::InitArgs;
use super::terminal::Terminal;
use crate::config::TEMPLATE;

pub(super) fn run(args: &InitArgs) -> anyhow::Result<Exit> {
    let path = &args.path;
    let mut options = OpenOptions::new();
    options.write(true);
    if args.force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let mut file = match options.open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} is there already; --force overwrites it", path.display());
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let dir = path.parent().unwrap_or(path).display();
            bail!("there is no directory {dir}: make it (mkdir -p {dir}), or name another place");
        }
        opened => opened.with_context(|| format!("could not write {}", path.display()))?,
    };
    file.write_all(TEMPLATE.as_bytes())
        .with_context(|| format!("could not write {}", path.display()))?;
    Terminal::new().line(format_args!(
        "wrote {}: set seeds and contact there, then run `comity crawl`",
        path.display()
    ));
    Ok(Exit::Done)
}
