//! Several runs at once.

use anyhow::Result;

/// Does what `next` gives, `jobs` at once, until it gives nothing.
///
/// # Errors
/// The first error of `work`.
pub(crate) fn until_done<T>(
    jobs: usize,
    next: impl Fn() -> Option<T> + Sync,
    work: impl Fn(T) -> Result<()> + Sync,
) -> Result<()> {
    let one_after_the_other = || -> Result<()> {
        while let Some(item) = next() {
            work(item)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(one_after_the_other)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}
