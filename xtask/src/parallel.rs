//! Work on all cores that may fail.

use anyhow::Result;
use maxseg_workbench::parallel;

/// `work` on every item, on all cores, results in the items' order.
///
/// # Errors
/// The first error of `work`, in that order.
pub fn in_parallel<'a, T: Sync, R: Send>(
    items: &[&'a T],
    work: impl Fn(&'a T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    parallel::in_parallel(items, |item| work(item)).into_iter().collect()
}
