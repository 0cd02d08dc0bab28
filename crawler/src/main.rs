//! The `comity` program: see [`comity::cli`].

use std::process::ExitCode;

/// The store spends a third of its time in the allocator; this one gains about 1.5 times.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Huge pages double what a small crawl takes in memory, and made none quicker. Where they cannot
    // be done without, it takes more.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    comity::cli::main()
}
