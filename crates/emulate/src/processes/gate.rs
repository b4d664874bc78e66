//! The way from a rank's program to our functions and back, in the rank's own process.
//!
//! The program has a C library and thread-local data of its own, and so have we: whoever runs must find its own behind the thread
//! pointer. A call comes through a stub to [`gate`], which exchanges the pointer and calls our function on the program's stack,
//! with all arguments where they are. One thread at a time may be inside (`threads.rs`); it may come again from a function of the
//! program that we call ([`call_program`]).

use std::arch::{asm, naked_asm};
use std::ffi::c_void;
use std::io;
use std::mem::offset_of;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::threads::{self, Door};

/// Calls within calls: a function of the program that calls MPI may cause another.
const DEEPEST: usize = 120;

/// The kernel lets programs exchange the thread pointer (Linux 5.9): a bit of AT_HWCAP2.
const FSGSBASE: u64 = 2;

/// Where a call comes from.
#[repr(C)]
#[derive(Clone, Copy)]
struct Frame {
    returns_to: usize,
    thread_pointer: usize,
    rbx: usize,
}

/// What each process has for itself. In a process that a rank forks all of it is zero.
#[repr(C)]
pub struct Here {
    /// 1 in the process of a rank.
    is_rank: usize,
    /// Who is inside: in memory that the simulation sees too.
    door: *const Door,
    /// The thread pointer of the thread that was inside last.
    last: usize,
    depth: usize,
    /// Which rank this is.
    pub rank: usize,
    /// Its number for the kernel.
    pub pid: i32,
    /// The program's function that says where `errno` is.
    pub errno: usize,
    /// The program's variable `environ`.
    pub environ: usize,
    /// The program's function `malloc`.
    pub malloc: usize,
    /// The program's function `free`.
    pub free: usize,
    /// The thread pointer of the program's first thread.
    pub first: usize,
    /// Where the program's stack begins.
    pub stack: usize,
    frames: [Frame; DEEPEST],
}

const _: () = assert!(size_of::<Here>() <= 4096);

/// Addresses of the C library's own functions, which processes that a rank forks need too.
const KEPT: usize = 4096;

/// Where [`Here`] is, in all processes.
static HERE: AtomicUsize = AtomicUsize::new(0);
/// Our own thread pointer, in all processes.
static OURS: AtomicUsize = AtomicUsize::new(0);

/// Prepares this process: those that are forked from it can let programs in.
pub fn prepare() -> io::Result<()> {
    // SAFETY: the auxiliary vector may be read.
    if unsafe { libc::getauxval(libc::AT_HWCAP2) } & FSGSBASE == 0 {
        return Err(io::Error::other("the kernel does not let programs exchange the thread pointer; Linux 5.9 does"));
    }
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: new memory at an address that the kernel chooses.
    let page =
        unsafe { libc::mmap(std::ptr::null_mut(), 2 * 4096, rights, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    if page == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let pointer: usize;
    // SAFETY: the kernel allows the instruction.
    unsafe { asm!("rdfsbase {}", out(reg) pointer, options(nomem, nostack)) };
    OURS.store(pointer, Ordering::Relaxed);
    HERE.store(page as usize, Ordering::Release);
    Ok(())
}

/// This process is that of a rank from now on, with that door, which stays as long as the run.
pub fn become_rank(rank: usize, pid: i32, door: &Door) {
    let page = HERE.load(Ordering::Acquire) as *mut Here;
    // SAFETY: the page is this process' own.
    unsafe {
        libc::madvise(page.cast(), 4096, libc::MADV_WIPEONFORK);
        (*page).is_rank = 1;
        (*page).rank = rank;
        (*page).door = door;
        (*page).pid = pid;
    }
}

/// Where the address of the C library's function with that number is kept.
pub fn kept(number: usize) -> usize {
    HERE.load(Ordering::Relaxed) + KEPT + number * size_of::<usize>()
}

/// What this process has for itself, if it is that of a rank.
#[inline]
pub fn here() -> Option<&'static mut Here> {
    let page = HERE.load(Ordering::Relaxed) as *mut Here;
    // SAFETY: the page stays mapped; one thread of a process is inside at a time, and keeps the reference for no longer than a line.
    unsafe { page.as_mut().filter(|here| here.is_rank != 0) }
}

/// The thread that is inside, of those of a rank that is a process.
#[inline]
pub fn thread() -> usize {
    here().map_or(0, |here| here.door().inside())
}

/// Nobody is inside any more: the program begins anew.
pub fn leave_all() {
    if let Some(here) = here() {
        (here.depth, here.first, here.last) = (0, 0, 0);
        here.door().open();
    }
}

impl Here {
    #[inline]
    fn door(&self) -> &'static Door {
        // SAFETY: set by `become_rank`, and there as long as the run.
        unsafe { &*self.door }
    }
}

/// The calls that a thread is in: what it takes along when it lets others in while it waits.
pub struct Calls {
    thread: usize,
    frames: Vec<Frame>,
}

/// The thread that is inside waits: others may come in when the door is opened.
pub fn step_aside() -> Option<Calls> {
    let here = here()?;
    let depth = std::mem::take(&mut here.depth);
    Some(Calls { thread: here.door().inside(), frames: here.frames[..depth].to_vec() })
}

/// It goes on: nobody is inside, and the door is closed.
pub fn step_back(calls: Calls) {
    if let Some(here) = here() {
        let Calls { thread, frames } = calls;
        here.frames[..frames.len()].copy_from_slice(&frames);
        (here.depth, here.last) = (frames.len(), 0);
        here.door().enter(thread);
    }
}

/// Whoever comes in next is asked who it is, even if it was the last.
pub fn ask_all() {
    if let Some(here) = here() {
        here.last = 0;
    }
}

/// Stubs jump here with the address of our function in r11, and in rax what is called instead in a process that is no rank's.
#[unsafe(naked)]
unsafe extern "C" fn gate() {
    naked_asm!(
        "push rbx",
        "mov rbx, [rip + {here}]",
        "cmp qword ptr [rbx + {is_rank}], 0",
        "je 9f",
        "push r12",
        "rdfsbase r10",
        "mov r12, [rbx + {door}]",
        "cmp [r12 + {inside}], r10",
        "je 2f",
        "xor eax, eax",
        "lock cmpxchg [r12 + {inside}], r10",
        "je 5f",
        // Another thread is inside, or the door is closed.
        "push rcx",
        "push r11",
        "push rdi",
        "push rsi",
        "lock inc dword ptr [r12 + {knocking}]",
        "1:",
        "cmp qword ptr [r12 + {inside}], {closed}",
        "je 6f",
        // sched_yield
        "mov eax, 24",
        "syscall",
        "jmp 7f",
        "6:",
        // nanosleep: 100 microseconds
        "push 100000",
        "push 0",
        "mov rdi, rsp",
        "xor esi, esi",
        "mov eax, 35",
        "syscall",
        "add rsp, 16",
        "7:",
        "xor eax, eax",
        "lock cmpxchg [r12 + {inside}], r10",
        "jne 1b",
        "lock dec dword ptr [r12 + {knocking}]",
        "pop rsi",
        "pop rdi",
        "pop r11",
        "pop rcx",
        "5:",
        "cmp [rbx + {last}], r10",
        "je 2f",
        // Another one than last time: all arguments are kept meanwhile.
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push r10",
        "push r11",
        "sub rsp, 136",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "mov [rbx + {last}], r10",
        "mov rdi, r10",
        "mov r11, [rip + {ours}]",
        "wrfsbase r11",
        "call {came_in}",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "add rsp, 136",
        "pop r11",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "2:",
        "pop r12",
        "mov rax, [rbx + {depth}]",
        "lea rax, [rax + rax * 2]",
        "lea rax, [rbx + rax * 8 + {frames}]",
        "mov [rax + 8], r10",
        "pop r10",
        "mov [rax + 16], r10",
        "pop r10",
        "mov [rax], r10",
        "inc qword ptr [rbx + {depth}]",
        "mov r10, [rip + {ours}]",
        "wrfsbase r10",
        "call r11",
        "dec qword ptr [rbx + {depth}]",
        "mov r10, [rbx + {depth}]",
        "lea r10, [r10 + r10 * 2]",
        "lea r10, [rbx + r10 * 8 + {frames}]",
        "mov r11, [r10 + 8]",
        "wrfsbase r11",
        "push qword ptr [r10]",
        "mov r11, [r10 + 16]",
        "cmp qword ptr [rbx + {depth}], 0",
        "jne 3f",
        "mov r10, [rbx + {door}]",
        "mov qword ptr [r10 + {inside}], 0",
        "3:",
        "mov rbx, r11",
        "ret",
        "9:",
        "pop rbx",
        "jmp rax",
        here = sym HERE,
        ours = sym OURS,
        is_rank = const offset_of!(Here, is_rank),
        door = const offset_of!(Here, door),
        last = const offset_of!(Here, last),
        inside = const Door::INSIDE,
        knocking = const Door::KNOCKING,
        closed = const Door::CLOSED,
        came_in = sym threads::came_in,
        depth = const offset_of!(Here, depth),
        frames = const offset_of!(Here, frames),
    )
}

/// The code of a stub: calls `function` through the gate; in a process that is no rank's, `otherwise` without it.
pub fn stub(function: usize, otherwise: usize) -> Vec<u8> {
    // movabs r11, function; movabs rax, otherwise; movabs r10, gate; jmp r10.
    let mut code = vec![0x49, 0xBB];
    code.extend((function as u64).to_le_bytes());
    code.extend([0x48, 0xB8]);
    code.extend((otherwise as u64).to_le_bytes());
    code.extend([0x49, 0xBA]);
    code.extend((gate as *const () as u64).to_le_bytes());
    code.extend([0x41, 0xFF, 0xE2]);
    code
}

/// Calls a function of the program with words, and gives its integer result. The program's thread pointer is in place meanwhile.
///
/// # Safety
/// The function must take these arguments.
pub unsafe fn call_program(function: usize, arguments: &[usize]) -> usize {
    let inside = here().filter(|here| here.depth > 0).map(|here| here.frames[here.depth - 1].thread_pointer);
    let mut words = [0; 8];
    words[..arguments.len()].copy_from_slice(arguments);
    let ours = OURS.load(Ordering::Relaxed);
    // SAFETY: as above; words beyond the function's arguments mean nothing to it.
    unsafe { call_with(function, &words, inside.unwrap_or_default(), ours) }
}

/// Memory for the program. Where ranks are processes it comes from the program's own C library: the heap of ours is shared by all
/// of them, and cannot grow any more (`share.rs`).
pub fn allocate(size: usize) -> *mut c_void {
    match here().map_or(0, |here| here.malloc) {
        // SAFETY: a size may be anything.
        0 => unsafe { libc::malloc(size) },
        // SAFETY: the program's function takes what the C library's does.
        malloc => unsafe { call_program(malloc, &[size]) as *mut c_void },
    }
}

/// Takes back what [`allocate`] gave.
///
/// # Safety
/// It must come from there, and nobody may use it any more.
pub unsafe fn free(memory: *mut c_void) {
    match here().map_or(0, |here| here.free) {
        // SAFETY: as above.
        0 => unsafe { libc::free(memory) },
        free => {
            // SAFETY: as above; the program's function takes what the C library's does.
            unsafe { call_program(free, &[memory as usize]) };
        }
    }
}

/// The same as [`call_program`] for a function that may not come back: one that executes another program in a process of its own.
///
/// # Safety
/// The function must take these arguments.
pub unsafe fn call_and_leave(function: usize, arguments: &[usize]) -> usize {
    let Some(here) = here() else { return 0 };
    let (inside, depth) = (here.door().inside(), here.depth);
    here.depth -= 1;
    if here.depth == 0 {
        here.door().open();
    }
    let theirs = here.frames[depth - 1].thread_pointer;
    let mut words = [0; 8];
    words[..arguments.len()].copy_from_slice(arguments);
    // SAFETY: as above.
    let result = unsafe { call_with(function, &words, theirs, OURS.load(Ordering::Relaxed)) };
    here.depth = depth;
    here.door().enter(inside);
    result
}

/// Calls `function` with eight words; `theirs` is the thread pointer meanwhile, unless it is 0, and `ours` again then.
#[unsafe(naked)]
unsafe extern "C" fn call_with(function: usize, words: &[usize; 8], theirs: usize, ours: usize) -> usize {
    naked_asm!(
        "push rbx",
        "push r12",
        "push r13",
        "mov r11, rdi",
        "mov r12, rdx",
        "mov r13, rcx",
        "push qword ptr [rsi + 56]",
        "push qword ptr [rsi + 48]",
        "mov rdi, [rsi]",
        "mov rdx, [rsi + 16]",
        "mov rcx, [rsi + 24]",
        "mov r8, [rsi + 32]",
        "mov r9, [rsi + 40]",
        "mov rsi, [rsi + 8]",
        "test r12, r12",
        "je 2f",
        "wrfsbase r12",
        "2:",
        "call r11",
        "test r12, r12",
        "je 3f",
        "wrfsbase r13",
        "3:",
        "add rsp, 16",
        "pop r13",
        "pop r12",
        "pop rbx",
        "ret",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn weigh(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize, g: usize, h: usize) -> usize {
        [a, b, c, d, e, f, g, h].iter().zip(1..).map(|(word, weight)| word * weight).sum()
    }

    #[test]
    fn all_words_arrive_at_their_places() {
        let words = [3, 1, 4, 1, 5, 9, 2, 6];
        // SAFETY: the function takes eight words.
        let sum = unsafe { call_program(weigh as *const () as usize, &words) };
        assert_eq!(sum, words.iter().zip(1..).map(|(word, weight)| word * weight).sum());
    }
}
