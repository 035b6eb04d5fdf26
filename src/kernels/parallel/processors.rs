//! Which processor a thread runs on, and how it leaves one that another thread needs.

/// The processor of this thread, where that can be known.
#[cfg(target_os = "linux")]
pub(super) fn current() -> Option<usize> {
    // SAFETY: it has no arguments and may be asked at any time.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Moves this thread to another one of the processors that it may run on, if it runs on this one and there is another.
#[cfg(target_os = "linux")]
pub(super) fn leave(processor: Option<usize>) {
    let Some(here) = processor.filter(|_| current() == processor) else { return };
    if here >= libc::CPU_SETSIZE as usize {
        return;
    }
    let size = size_of::<libc::cpu_set_t>();
    // SAFETY: a set of processors is plain bits, all zero is the empty one; it is as long as is said, it has a bit for
    // `here`, and 0 is the calling thread.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size, &raw mut allowed) != 0 {
            return;
        }
        let mut others = allowed;
        libc::CPU_CLR(here, &mut others);
        // The system moves a thread at once that may no longer run where it is.
        if libc::CPU_COUNT(&others) > 0 && libc::sched_setaffinity(0, size, &raw const others) == 0 {
            libc::sched_setaffinity(0, size, &raw const allowed);
        }
    }
}

/// It cannot be known here.
#[cfg(not(target_os = "linux"))]
pub(super) fn current() -> Option<usize> {
    None
}

/// The system finds a processor for it.
#[cfg(not(target_os = "linux"))]
pub(super) fn leave(_processor: Option<usize>) {}
