//! Memory that one frame leaves for the next: fresh pages cost more than what is done in them.

use std::sync::{Mutex, PoisonError};

/// Things to use again.
#[derive(Debug)]
pub(crate) struct Spare<T>(Mutex<Vec<T>>);

impl<T: Default> Spare<T> {
    /// One that was given back, or a new one.
    pub(crate) fn take(&self) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(crate) fn give(&self, one: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(one);
    }
}

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}
