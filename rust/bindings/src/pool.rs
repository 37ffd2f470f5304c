use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

type Pools = Mutex<HashMap<(u32, usize), Arc<ThreadPool>>>;

/// Worker pools by process and size. A forked child has none of its parent's threads, so it must
/// not find its parent's pool.
static POOLS: LazyLock<Pools> = LazyLock::new(Pools::default);

/// Runs `work` on the pool of `threads` workers of this process. Every kernel that may work in
/// parallel is called through here: left alone it would start rayon's global pool, which ignores
/// the budget, does not survive a fork, and panics if the system gives no threads.
///
/// `work` must take no lock: while a worker waits for the parts of one job it may start another.
pub(crate) fn in_pool<R: Send>(
    threads: usize,
    work: impl FnOnce() -> R + Send,
) -> Result<R, ThreadPoolBuildError> {
    Ok(pool(threads.max(1))?.install(work))
}

fn pool(threads: usize) -> Result<Arc<ThreadPool>, ThreadPoolBuildError> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), threads);
    if let Some(pool) = pools.get(&key) {
        return Ok(Arc::clone(pool));
    }
    let name = |i| format!("screentest-{i}");
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build()?;
    let pool = Arc::new(pool);
    pools.insert(key, Arc::clone(&pool));
    Ok(pool)
}
