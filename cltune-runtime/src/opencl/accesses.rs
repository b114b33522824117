//! Accesses to addresses that nobody may touch, noticed instead of ending the process.
//!
//! The system answers such an access with a signal. The handler notes the first address, opens a
//! piece of memory there and lets the kernel go on: what it reads or writes is nobody's, so that
//! the process is as good as before, and the driver's threads come to their end. Everything else
//! that ends a process ends this one as well.

use super::pages::page_size;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of what is opened at a time, bytes.
const PIECE: usize = 64 << 10;
/// The most such openings until the accesses are asked for; beyond that the process ends,
/// rather than using up the machine's memory.
const PIECES: usize = 4096;

/// So many ranges can be watched at a time.
const SLOTS: usize = 1024;

struct Slot {
    /// The addresses; 0 where the slot is free.
    begin: AtomicUsize,
    end: AtomicUsize,
    /// The address that was accessed first; 0 for none.
    first: AtomicUsize,
    /// The number of openings.
    pieces: AtomicUsize,
}

impl Slot {
    const fn free() -> Self {
        Self {
            begin: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            first: AtomicUsize::new(0),
            pieces: AtomicUsize::new(0),
        }
    }
}

static WATCHED: [Slot; SLOTS] = [const { Slot::free() }; SLOTS];

/// The former handlers of the signals; `None` where the handler could not be installed.
static BEFORE: OnceLock<Option<[libc::sigaction; 2]>> = OnceLock::new();
/// The signals of accesses to forbidden pages: one or the other, depending on the system.
const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// A range of addresses that is watched as long as this lives.
#[derive(Debug)]
pub(super) struct Watched(usize);

impl Watched {
    /// Watches a range of pages, which stays reserved as long as this lives; in it the handler may
    /// open pages. `None` where too many are watched, or the system does not let us.
    pub(super) fn new(range: Range<usize>) -> Option<Self> {
        BEFORE.get_or_init(install).as_ref()?;
        let is_taken = |slot: &Slot| {
            let (free, taken) = (0, range.start);
            let order = Ordering::SeqCst;
            slot.begin
                .compare_exchange(free, taken, order, order)
                .is_ok()
        };
        let index = WATCHED.iter().position(is_taken)?;
        let slot = &WATCHED[index];
        slot.first.store(0, Ordering::SeqCst);
        slot.pieces.store(0, Ordering::SeqCst);
        slot.end.store(range.end, Ordering::SeqCst);
        Some(Self(index))
    }

    /// The address that was accessed first since this was asked the last time.
    pub(super) fn take(&self) -> Option<usize> {
        let slot = &WATCHED[self.0];
        slot.pieces.store(0, Ordering::SeqCst);
        Some(slot.first.swap(0, Ordering::SeqCst)).filter(|address| *address > 0)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let slot = &WATCHED[self.0];
        slot.end.store(0, Ordering::SeqCst);
        slot.begin.store(0, Ordering::SeqCst);
    }
}

/// Installs the handler; what was there before.
fn install() -> Option<[libc::sigaction; 2]> {
    // The handler uses it, and may not ask for it then.
    PAGE.store(page_size(), Ordering::SeqCst);
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_fault;
    let install = |signal| {
        // SAFETY: all-zero bits are a valid `sigaction`: no flags, the default handler, an empty
        // mask.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        let mut before = MaybeUninit::zeroed();
        // SAFETY: both pointers are valid during the call, and the handler has the signature that
        // SA_SIGINFO demands.
        let done = unsafe { libc::sigaction(signal, &raw const action, before.as_mut_ptr()) };
        // SAFETY: zeroed is valid, and the call has overwritten it where it succeeded.
        (done == 0).then(|| unsafe { before.assume_init() })
    };
    Some([install(SIGNALS[0])?, install(SIGNALS[1])?])
}

static PAGE: AtomicUsize = AtomicUsize::new(0);

/// Runs in the thread that accessed the address, in the midst of a kernel: so it calls nothing but
/// what a signal handler may call, allocates nothing and cannot panic.
extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system passes a valid pointer, and `si_addr` is filled in for these signals.
    // Where a process has sent them the bits are something else, which `si_code` tells.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    let is_of_system = code > 0;
    if is_of_system && open(address) {
        // The instruction is executed again.
        return;
    }
    let index = usize::from(signal == SIGNALS[1]);
    let before = BEFORE.get().and_then(Option::as_ref);
    // SAFETY: a valid action from before, or all-zero bits, which mean the default; both calls are
    // allowed in handlers.
    unsafe {
        let default = MaybeUninit::<libc::sigaction>::zeroed();
        let action = before.map_or(default.as_ptr(), |before| &raw const before[index]);
        libc::sigaction(signal, action, ptr::null_mut());
        if !is_of_system {
            // Nothing happens again by itself.
            libc::raise(signal);
        }
    }
}

/// Notes an access and opens the memory around it; whether the address is watched and that could be
/// done.
fn open(address: usize) -> bool {
    let order = Ordering::SeqCst;
    let has = |slot: &&Slot| (slot.begin.load(order)..slot.end.load(order)).contains(&address);
    let Some(slot) = WATCHED.iter().find(has) else {
        return false;
    };
    let _ = slot.first.compare_exchange(0, address, order, order);
    if slot.pieces.fetch_add(1, order) >= PIECES {
        return false;
    }
    // Pages are no larger than that but on few systems.
    let piece = PIECE.max(PAGE.load(order));
    let begin = (address & !(piece - 1)).max(slot.begin.load(order));
    let end = (address | (piece - 1))
        .saturating_add(1)
        .min(slot.end.load(order));
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let pages = ptr::with_exposed_provenance_mut::<libc::c_void>(begin);
    // SAFETY: the range is a part of a watched one, which belongs to `Pages` as long as it is
    // watched, and of which nobody has a reference. Pages that could be written before are as
    // before.
    begin < end && unsafe { libc::mprotect(pages, end - begin, access) == 0 }
}
