//! The sockets that processes have open, in one reading: the kernel goes through all files of all processes (its BPF iterator
//! `task_file`, `kernel/bpf/task_iter.c`), and a program of ours writes what is a socket. The same by `/proc/PID/fd` takes a
//! system call for each descriptor.
//!
//! ```text
//! /sys/kernel/btf/vmlinux → Layout → program → BpfIterator → bytes → OpenSocket …
//! ```

use std::ffi::CStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::linux::fs::MetadataExt as _;
use std::sync::OnceLock;

use maxseg_wire::btf::{Btf, Kind};
use thiserror::Error;

use crate::sys::{BpfIterator, Instruction, Register, Width, may_trace_kernel, prefer_huge_pages};

/// A socket in a process's table of descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OpenSocket {
    /// The process.
    pub(crate) pid: u32,
    /// The socket's inode.
    pub(crate) inode: u32,
}

/// Why the kernel does not go through the files.
#[derive(Debug, Error)]
pub(crate) enum NotIterated {
    /// The program would tell the numbers that processes have in the first namespace.
    #[error("this process is in a PID or user namespace of its own")]
    InNamespace,
    /// A capability is missing.
    #[error("it takes CAP_BPF and CAP_PERFMON")]
    NoRight,
    /// The kernel does not tell its types, or has other ones.
    #[error("the kernel does not tell where its structures have these members ({TYPES})")]
    NoTypes,
    /// The kernel refuses the program: it is older than Linux 5.11, or locked down (`kernel_lockdown(7)`).
    #[error("the kernel refuses the BPF program ({0})")]
    Refused(#[from] io::Error),
}

/// Where the kernel tells its types (since Linux 5.4, with `CONFIG_DEBUG_INFO_BTF`).
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// The inodes of the first PID namespace and the first user namespace (`PROC_PID_INIT_INO` and `PROC_USER_INIT_INO` in
/// `include/linux/proc_ns.h`).
const FIRST_NAMESPACES: [(&str, u64); 2] =
    [("/proc/self/ns/pid", 0xefff_fffc), ("/proc/self/ns/user", 0xefff_fffd)];

/// Bytes of a record of the program: the two numbers of an [`OpenSocket`].
const RECORD: usize = 8;

/// The sockets of all processes, those of a process one after the other; about as many as `expected`. `None` where the kernel does
/// not go through them: then `/proc` tells the same.
pub(crate) fn open_sockets(expected: usize) -> Option<Vec<OpenSocket>> {
    let mut bytes = Vec::with_capacity(expected.saturating_mul(RECORD));
    iterator().ok()?.begin().ok()?.read_to_end(&mut bytes).ok()?;
    Some(bytes.chunks_exact(RECORD).filter_map(OpenSocket::of).collect())
}

/// Whether [`open_sockets`] works here. Nothing is read.
///
/// # Errors
/// As of [`NotIterated`].
pub(crate) fn probe() -> Result<(), &'static NotIterated> {
    iterator().map(|_| ())
}

/// One for all readings of this process: to load it takes the kernel's types, and an entry in the audit log of a host that has one.
fn iterator() -> Result<&'static BpfIterator, &'static NotIterated> {
    static LOADED: OnceLock<Result<BpfIterator, NotIterated>> = OnceLock::new();
    LOADED.get_or_init(load).as_ref()
}

fn load() -> Result<BpfIterator, NotIterated> {
    // What takes long, the reading of all types, comes last.
    let is_first = |(file, inode): (&str, u64)| {
        fs::metadata(file).is_ok_and(|namespace| namespace.st_ino() == inode)
    };
    if !FIRST_NAMESPACES.into_iter().all(is_first) {
        return Err(NotIterated::InNamespace);
    }
    if !may_trace_kernel() {
        return Err(NotIterated::NoRight);
    }
    let types = read_types().map_err(|_| NotIterated::NoTypes)?;
    let layout = Btf::decode(&types).and_then(|types| Layout::of(&types));
    let layout = layout.ok_or(NotIterated::NoTypes)?;
    Ok(BpfIterator::load(&layout.program(), LICENCE, layout.hook)?)
}

/// Some megabytes.
fn read_types() -> io::Result<Vec<u8>> {
    let mut file = File::open(TYPES)?;
    let size = usize::try_from(file.metadata()?.len()).unwrap_or(0);
    // The reading ends with a byte more than there is.
    let mut types = Vec::with_capacity(size + 1);
    // Without them it takes longer.
    let _ = prefer_huge_pages(&mut types);
    file.read_to_end(&mut types)?;
    Ok(types)
}

impl OpenSocket {
    fn of(record: &[u8]) -> Option<Self> {
        let (pid, inode) = record.split_first_chunk()?;
        let number = |bytes: &[u8; 4]| u32::from_ne_bytes(*bytes);
        Some(Self { pid: number(pid), inode: number(inode.first_chunk()?) })
    }
}

/// What the program takes of this kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    /// The number of `bpf_iter_task_file`.
    hook: u32,
    /// Where `struct task_struct` has `pid` and `tgid`, `struct file` has `f_inode`, and `struct inode` has `i_ino`: bytes.
    pid: i16,
    tgid: i16,
    f_inode: i16,
    i_ino: i16,
}

impl Layout {
    fn of(types: &Btf<'_>) -> Option<Self> {
        let [hook, task, file, inode] = types.find([
            (Kind::Function, "bpf_iter_task_file"),
            (Kind::Structure, "task_struct"),
            (Kind::Structure, "file"),
            (Kind::Structure, "inode"),
        ]);
        let (task, file, inode) = (task?, file?, inode?);
        // Loads reach 32 KiB.
        let offset = |bytes: Option<usize>| i16::try_from(bytes?).ok();
        Some(Self {
            hook: hook?.id,
            pid: offset(task.offset_of("pid"))?,
            tgid: offset(task.offset_of("tgid"))?,
            f_inode: offset(file.offset_of("f_inode"))?,
            i_ino: offset(inode.offset_of("i_ino"))?,
        })
    }

    /// The program. It runs with each descriptor of each task that has a table of its own: threads that share their process's are
    /// left out by the kernel (`task_seq_get_next`), those that do not by the program, for `/proc/PID/fd` has them not either. Of
    /// pointers only those are followed whose types the verifier knows, so that nothing else of the kernel can be read.
    fn program(&self) -> [Instruction; 21] {
        use Instruction as Do;
        use Register::{R0, R1, R2, R3, R6, R7, R8, R9, R10};
        use Width::{Double, Word};
        [
            Do::copy(R6, R1),
            Do::load(Double, R7, R6, context::FILE),
            // Both are null when the iterator is at its end.
            Do::leave_if_zero(R7),
            Do::load(Double, R8, R6, context::TASK),
            Do::leave_if_zero(R8),
            // Of a process's threads only the first one has its number.
            Do::load(Word, R9, R8, self.tgid),
            Do::load(Word, R1, R8, self.pid),
            Do::leave_unless_equal(R1, R9),
            // Null where the file is no socket.
            Do::copy(R1, R7),
            Do::call(SOCK_FROM_FILE),
            Do::leave_if_zero(R0),
            Do::load(Double, R1, R7, self.f_inode),
            Do::load(Double, R1, R1, self.i_ino),
            // The record, on the stack. Inodes of sockets have 32 bits (`get_next_ino` in `fs/inode.c`).
            Do::store(Word, R10, -8, R9),
            Do::store(Word, R10, -4, R1),
            // The output is the first member of what the context begins with (`meta->seq`).
            Do::load(Double, R1, R6, context::META),
            Do::load(Double, R1, R1, 0),
            Do::copy(R2, R10),
            Do::add(R2, -8),
            Do::set(R3, 8),
            Do::call(SEQ_WRITE),
        ]
    }
}

/// Where the program's context, `struct bpf_iter__task_file`, has its pointers: each takes eight bytes on every machine.
mod context {
    pub(super) const META: i16 = 0;
    pub(super) const TASK: i16 = 8;
    /// Behind the descriptor's number.
    pub(super) const FILE: i16 = 24;
}

/// `bpf_seq_write` and, since Linux 5.11, `bpf_sock_from_file` (`enum bpf_func_id` in `linux/bpf.h`).
const SEQ_WRITE: i32 = 127;
const SOCK_FROM_FILE: i32 = 162;

/// The first of these functions is only for programs that may be used under the GPL, too.
const LICENCE: &CStr = c"Dual MIT/GPL";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_a_process_and_an_inode() {
        let record = [7_u32.to_ne_bytes(), 4711_u32.to_ne_bytes()].concat();
        assert_eq!(OpenSocket::of(&record), Some(OpenSocket { pid: 7, inode: 4711 }));
        assert_eq!(OpenSocket::of(&record[..7]), None);
    }

    #[test]
    fn a_kernel_without_one_of_the_structures_has_no_layout() {
        let other = include_bytes!("../../../../../fuzz/corpus/btf/every_kind");
        assert_eq!(Layout::of(&Btf::decode(other).unwrap()), None);
    }
}
