//! Ctrl-C and its like end a run, not its results.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use comity_conformance::grade::Stop;

/// Which signal came, if one did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signalled(Arc<AtomicU8>);

impl Signalled {
    /// What a shell expects as exit status after a signal: 128 and its number.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            number => Some(128 + number),
        }
    }
}

/// The first signal stops the run, the second ends the program.
#[cfg(unix)]
pub(crate) fn watch(stop: Stop) -> io::Result<Signalled> {
    use std::process;
    use std::thread;
    use std::time::Duration;

    use tokio::runtime::Builder;
    use tokio::signal::unix::{SignalKind, signal};

    /// Time for the run to end its engine, before a second signal is obeyed.
    const ENGINE_ENDS: Duration = Duration::from_millis(500);

    let runtime = Builder::new_current_thread().enable_all().build()?;
    let guard = runtime.enter();
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut quit = signal(SignalKind::quit())?;
    let mut terminate = signal(SignalKind::terminate())?;
    drop(guard);
    let signalled = Signalled::default();
    let keep = signalled.clone();
    thread::spawn(move || {
        runtime.block_on(async {
            let mut next = async || {
                tokio::select! {
                    _ = hangup.recv() => 1,
                    _ = interrupt.recv() => 2,
                    _ = quit.recv() => 3,
                    _ = terminate.recv() => 15,
                }
            };
            let first = next().await;
            keep.0.store(first, Ordering::SeqCst);
            stop.stop();
            tokio::time::sleep(ENGINE_ENDS).await;
            process::exit(128 + i32::from(next().await));
        });
    });
    Ok(signalled)
}

/// Elsewhere the system ends the program, and with its input closed the engine ends.
#[cfg(not(unix))]
pub(crate) fn watch(_: Stop) -> io::Result<Signalled> {
    Ok(Signalled::default())
}
