//! One run of a crawler: a process group of its own, which ends with the run, however that ends.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde::Serialize;
use tokio::process::Command;
use tokio::time::timeout;

/// What a shell says of a program that cannot be run, and of one that is not there (POSIX, Shell
/// Command Language, 2.8.2).
const NOT_RUN: [i32; 2] = [126, 127];

/// How a run ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// By itself, with this status.
    Exit(i32),
    /// By a signal that the lab did not send.
    Signal(i32),
    /// By the lab, after so many seconds.
    TimeLimit(u64),
}

impl End {
    fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exit(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }

    /// Whether the shell found no program to run.
    pub(super) fn is_without_program(self) -> bool {
        matches!(self, Self::Exit(code) if NOT_RUN.contains(&code))
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit status: {code}"),
            Self::Signal(number) => write!(f, "ended by signal {number}"),
            Self::TimeLimit(seconds) => write!(f, "ended by the lab after {seconds} s"),
        }
    }
}

/// A process group. Dropping it ends all that is in it: after a run, and where the lab itself is
/// interrupted, fails or panics.
struct Group(u32);

impl Drop for Group {
    fn drop(&mut self) {
        let Self(leader) = self;
        // Usually there is nothing left to end, and nobody is told of that.
        let _ = std::process::Command::new("sh")
            .arg("-c")
            .arg(format!("kill -KILL -{leader}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        // What faketime keeps for its children, and removes only if it may end by itself.
        for kept in [format!("faketime_shm_{leader}"), format!("sem.faketime_sem_{leader}")] {
            let _ = fs::remove_file(Path::new("/dev/shm").join(kept));
        }
    }
}

/// What is run, and how.
pub(super) struct Run<'a> {
    /// The shell, perhaps under faketime, and the command line for it.
    pub(super) shell: &'a [String],
    pub(super) command: &'a str,
    pub(super) proxy: Option<&'a str>,
    /// A file of certificates to trust, over TLS.
    pub(super) ca: Option<&'a Path>,
    /// What it prints is added here.
    pub(super) log: &'a Path,
    pub(super) limit: Duration,
}

/// Variables that would lead a crawler past the lab.
const PROXIES: [&str; 7] =
    ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"];

impl Run<'_> {
    /// Runs it, and ends it with all that it has started.
    pub(super) async fn to_its_end(&self) -> io::Result<End> {
        let output = fs::File::options().create(true).append(true).open(self.log)?;
        let errors = output.try_clone()?;
        let [program, before @ ..] = self.shell else { return Ok(End::Exit(0)) };
        let mut shell = Command::new(program);
        shell.args(before).arg("-c").arg(self.command);
        shell.stdin(Stdio::null()).stdout(output).stderr(errors);
        shell.process_group(0).kill_on_drop(true);
        for name in PROXIES {
            shell.env_remove(name);
        }
        if let Some(proxy) = self.proxy {
            shell.env("http_proxy", proxy).env("https_proxy", proxy);
        }
        for name in ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"] {
            if let Some(ca) = self.ca {
                shell.env(name, ca);
            }
        }
        let mut child = shell.spawn()?;
        // Dropped before the child is.
        let group = child.id().map(Group);
        let ended = match timeout(self.limit, child.wait()).await {
            Ok(status) => End::of(status?),
            Err(_) => End::TimeLimit(self.limit.as_secs()),
        };
        drop(group);
        let _ = child.wait().await;
        Ok(ended)
    }
}
