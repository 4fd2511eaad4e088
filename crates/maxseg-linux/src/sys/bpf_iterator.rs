//! BPF iterators (the kernel's `Documentation/bpf/bpf_iterators.rst`, since Linux 5.8): a program that the kernel runs for each
//! object of a kind, and whose output is read as a file. Program and iterator end with their descriptors.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

/// An instruction (`struct bpf_insn`; RFC 9669 §3).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// A register (RFC 9669 §2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Register {
    /// What a call gives, and what the program gives at its end.
    R0 = 0,
    /// The first argument: of the program its context, of a call what is set before it. Calls forget R1 to R5.
    R1 = 1,
    /// The second.
    R2 = 2,
    /// The third.
    R3 = 3,
    /// Kept over calls, as R7 to R9.
    R6 = 6,
    R7 = 7,
    R8 = 8,
    R9 = 9,
    /// The end of the stack.
    R10 = 10,
}

/// How much is loaded or stored.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Width {
    /// Four bytes, `BPF_W`.
    Word = 0x00,
    /// Eight bytes, `BPF_DW`.
    Double = 0x18,
}

/// What instructions do (RFC 9669 §3 to §5): an instruction class with its source and operation or mode.
mod code {
    /// `LDX | MEM`, `STX | MEM`.
    pub(super) const LOAD: u8 = 0x61;
    pub(super) const STORE: u8 = 0x63;
    /// `ALU64 | ADD | K`, `ALU64 | MOV | K`, `ALU64 | MOV | X`.
    pub(super) const ADD: u8 = 0x07;
    pub(super) const SET: u8 = 0xb7;
    pub(super) const COPY: u8 = 0xbf;
    /// `JMP | JEQ | K`, `JMP | JNE | X`, `JMP | CALL`, `JMP | EXIT`.
    pub(super) const JUMP_IF_EQUAL: u8 = 0x15;
    pub(super) const JUMP_UNLESS_EQUAL: u8 = 0x5d;
    pub(super) const CALL: u8 = 0x85;
    pub(super) const EXIT: u8 = 0x95;
}

impl Instruction {
    const fn of(code: u8, to: Register, from: Register, offset: i16, immediate: i32) -> Self {
        let (to, from) = (to as u8, from as u8);
        // Two fields of four bits, which the machine's byte order puts in place.
        let registers = if cfg!(target_endian = "big") { to << 4 | from } else { from << 4 | to };
        Self { code, registers, offset, immediate }
    }

    /// `to = from`.
    pub(crate) const fn copy(to: Register, from: Register) -> Self {
        Self::of(code::COPY, to, from, 0, 0)
    }

    /// `to = value`.
    pub(crate) const fn set(to: Register, value: i32) -> Self {
        Self::of(code::SET, to, Register::R0, 0, value)
    }

    /// `to += value`.
    pub(crate) const fn add(to: Register, value: i32) -> Self {
        Self::of(code::ADD, to, Register::R0, 0, value)
    }

    /// `to = *(from + offset)`.
    pub(crate) const fn load(width: Width, to: Register, from: Register, offset: i16) -> Self {
        Self::of(code::LOAD | width as u8, to, from, offset, 0)
    }

    /// `*(to + offset) = from`.
    pub(crate) const fn store(width: Width, to: Register, offset: i16, from: Register) -> Self {
        Self::of(code::STORE | width as u8, to, from, offset, 0)
    }

    /// Goes to the program's end where a register is zero.
    pub(crate) const fn leave_if_zero(register: Register) -> Self {
        Self::of(code::JUMP_IF_EQUAL, register, Register::R0, 0, 0)
    }

    /// Goes to the program's end where two registers differ.
    pub(crate) const fn leave_unless_equal(one: Register, other: Register) -> Self {
        Self::of(code::JUMP_UNLESS_EQUAL, one, other, 0, 0)
    }

    /// `R0 =` what the kernel's function of this number gives (`enum bpf_func_id`).
    pub(crate) const fn call(function: i32) -> Self {
        Self::of(code::CALL, Register::R0, Register::R0, 0, function)
    }

    const fn exit() -> Self {
        Self::of(code::EXIT, Register::R0, Register::R0, 0, 0)
    }
}

/// The instructions with an end, `R0 = 0; exit`, at which those arrive that leave.
fn with_end(instructions: &[Instruction]) -> Vec<Instruction> {
    // Jumps count from the instruction behind them.
    let skipped = (0..).take(instructions.len()).collect::<Vec<i16>>().into_iter().rev();
    let aimed = instructions.iter().zip(skipped).map(|(instruction, offset)| {
        let leaves = [code::JUMP_IF_EQUAL, code::JUMP_UNLESS_EQUAL].contains(&instruction.code);
        if leaves { Instruction { offset, ..*instruction } } else { *instruction }
    });
    aimed.chain([Instruction::set(Register::R0, 0), Instruction::exit()]).collect()
}

/// A program that the kernel has taken, and runs for each object of a kind. It ends with this value.
#[derive(Debug)]
pub(crate) struct BpfIterator {
    /// Between the program and its objects.
    link: OwnedFd,
    _program: OwnedFd,
}

/// Commands of bpf(2), and the kind of these programs (`linux/bpf.h`): `BPF_PROG_LOAD`, `BPF_LINK_CREATE`, `BPF_ITER_CREATE`;
/// `BPF_PROG_TYPE_TRACING` with `BPF_TRACE_ITER`.
const PROGRAM_LOAD: libc::c_int = 5;
const LINK_CREATE: libc::c_int = 28;
const ITERATOR_CREATE: libc::c_int = 33;
const TRACING: u32 = 26;
const ITERATOR: u32 = 28;

/// What `BPF_PROG_LOAD` takes, as far as it is used here: the kernel takes what is not given for zero.
#[repr(C)]
struct ProgramLoad {
    kind: u32,
    instruction_count: u32,
    instructions: u64,
    licence: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_kind: u32,
    types: u32,
    function_record_size: u32,
    functions: u64,
    function_count: u32,
    line_record_size: u32,
    lines: u64,
    line_count: u32,
    hook: u32,
    hook_program: u32,
    relocation_count: u32,
}

/// What `BPF_LINK_CREATE` takes.
#[repr(C)]
struct LinkCreate {
    program: u32,
    target: u32,
    attach_kind: u32,
    flags: u32,
}

/// What `BPF_ITER_CREATE` takes.
#[repr(C)]
struct IteratorCreate {
    link: u32,
    flags: u32,
}

impl BpfIterator {
    /// Loads a program of these instructions. `hook` is the kernel's number for the function `bpf_iter_…` that stands for the kind of
    /// objects, `licence` what the kernel's functions ask of a program that calls them.
    ///
    /// # Errors
    /// This user may not (`EPERM`), the kernel has no such programs, or its verifier rejects this one (`EINVAL`, `EACCES`).
    pub(crate) fn load(
        instructions: &[Instruction],
        licence: &CStr,
        hook: u32,
    ) -> io::Result<Self> {
        let instructions = with_end(instructions);
        let load = ProgramLoad {
            kind: TRACING,
            instruction_count: u32::try_from(instructions.len()).map_err(io::Error::other)?,
            instructions: instructions.as_ptr() as u64,
            licence: licence.as_ptr() as u64,
            log_level: 0,
            log_size: 0,
            log: 0,
            kernel_version: 0,
            flags: 0,
            name: *b"maxseg\0\0\0\0\0\0\0\0\0\0",
            interface: 0,
            attach_kind: ITERATOR,
            types: 0,
            function_record_size: 0,
            functions: 0,
            function_count: 0,
            line_record_size: 0,
            lines: 0,
            line_count: 0,
            hook,
            hook_program: 0,
            relocation_count: 0,
        };
        let program = bpf(PROGRAM_LOAD, &load)?;
        let (target, flags) = (0, 0);
        let create = LinkCreate { program: number(&program), target, attach_kind: ITERATOR, flags };
        let link = bpf(LINK_CREATE, &create)?;
        Ok(Self { link, _program: program })
    }

    /// Begins a pass through the objects. The program runs as its output is read.
    ///
    /// # Errors
    /// There is no memory, or no descriptor left.
    pub(crate) fn begin(&self) -> io::Result<File> {
        let create = IteratorCreate { link: number(&self.link), flags: 0 };
        Ok(bpf(ITERATOR_CREATE, &create)?.into())
    }
}

fn number(file: &OwnedFd) -> u32 {
    file.as_raw_fd().cast_unsigned()
}

/// A command that gives a descriptor, which is closed in programs that are started (`O_CLOEXEC`, as all of BPF's are).
#[expect(unsafe_code, reason = "no library here has this call")]
fn bpf<T>(command: libc::c_int, attributes: &T) -> io::Result<OwnedFd> {
    // SAFETY: the kernel reads the attributes, whose size is told, and what their pointers lead to, which lives in the caller
    // until this returns; it writes to none of it, as there is no log.
    let result = unsafe {
        libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>())
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    let file = i32::try_from(result).map_err(io::Error::other)?;
    // SAFETY: the kernel has just given it, to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn instructions_are_encoded_as_the_rfc_has_them() {
        use Register::{R0, R1, R6, R10};
        let bytes = |instruction: Instruction| {
            let Instruction { code, registers, offset, immediate } = instruction;
            (code, registers, offset, immediate)
        };
        // What `llvm-objdump` names `r6 = r1`, `r1 = *(u64 *)(r6 + 24)`, `*(u32 *)(r10 - 8) = r1`.
        assert_eq!(bytes(Instruction::copy(R6, R1)), (0xbf, 0x16, 0, 0));
        assert_eq!(bytes(Instruction::load(Width::Double, R1, R6, 24)), (0x79, 0x61, 24, 0));
        assert_eq!(bytes(Instruction::store(Width::Word, R10, -8, R1)), (0x63, 0x1a, -8, 0));
        assert_eq!(bytes(Instruction::call(127)), (0x85, 0, 0, 127));
        assert_eq!(size_of::<Instruction>(), 8);
        // `if r0 == 0 goto +1`, `if r1 != r6 goto +0`, `r0 = 0`, `exit`.
        let leaving = [Instruction::leave_if_zero(R0), Instruction::leave_unless_equal(R1, R6)];
        let program: Vec<_> = with_end(&leaving).into_iter().map(bytes).collect();
        let expected = [(0x15, 0, 1, 0), (0x5d, 0x61, 0, 0), (0xb7, 0, 0, 0), (0x95, 0, 0, 0)];
        assert_eq!(program, expected);
    }

    #[test]
    fn a_program_that_reads_what_is_no_memory_is_refused() {
        let reads_nowhere = [Instruction::load(Width::Double, Register::R0, Register::R0, 0)];
        // By the verifier, or before it for want of the right.
        assert!(BpfIterator::load(&reads_nowhere, c"Dual MIT/GPL", 1).is_err());
    }
}
