use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

type Pools = Mutex<HashMap<(u32, usize), Arc<ThreadPool>>>;

/// Worker pools by process and size. A forked child has none of its parent's threads, so it must
/// not find its parent's pool.
static POOLS: LazyLock<Pools> = LazyLock::new(Pools::default);

/// The pool of `threads` workers of this process; `None` if the system gives no threads, and then
/// the caller works on its own.
pub(crate) fn pool(threads: usize) -> Option<Arc<ThreadPool>> {
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), threads.max(1));
    if let Some(pool) = pools.get(&key) {
        return Some(Arc::clone(pool));
    }
    let name = |i| format!("screentest-{i}");
    let pool = ThreadPoolBuilder::new().num_threads(key.1).thread_name(name).build().ok()?;
    let pool = Arc::new(pool);
    pools.insert(key, Arc::clone(&pool));
    Some(pool)
}
