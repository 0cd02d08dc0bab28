//! `comity-lab`: serves the lab for any crawler, and judges what it did.

mod arguments;
mod grade;
mod serve;
mod signals;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;

use arguments::{Arguments, Command};

const BROKEN: u8 = 1;
const UNUSABLE: u8 = 2;
/// What a shell says of a program that SIGPIPE ended.
const PIPE_CLOSED: u8 = 141;

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Grade(arguments) => grade::grade(&arguments),
        Command::Client(arguments) => grade::client(&arguments),
        Command::Serve { scenarios: true, reach, ca_file, seconds, agent, ledger } => {
            let (ledger, ca_file) = (ledger.as_deref(), ca_file.as_deref());
            serve::serve_scenarios(reach.mode(), seconds, agent, ledger, ca_file)
        }
        Command::Serve { seconds, agent, ledger, .. } => {
            serve::serve(seconds, &agent, ledger.as_deref())
        }
        Command::Check { ledger, interval_ms, policy, json } => {
            serve::check(&ledger, Duration::from_millis(interval_ms), policy, json)
        }
    };
    outcome.unwrap_or_else(|error| {
        // Who reads the output has enough of it, as `head` does.
        let is_pipe = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
        if error.chain().filter_map(|cause| cause.downcast_ref()).any(is_pipe) {
            return ExitCode::from(PIPE_CLOSED);
        }
        // With standard error closed there is nobody left to tell.
        let _ = writeln!(io::stderr(), "comity-lab: {error:#}");
        ExitCode::from(UNUSABLE)
    })
}

/// Whether a file can be written, before there is anything to write. One that is there stays as it is.
fn writable(path: &Path) -> anyhow::Result<()> {
    let is_new = !path.exists();
    let opened = fs::File::options().create(true).append(true).open(path);
    opened.with_context(|| format!("could not write {}", path.display()))?;
    if is_new {
        // It comes again with what is to be in it.
        let _ = fs::remove_file(path);
    }
    Ok(())
}
