//! The machine, as `kernel/bpf` in the kernel has it, that dies of whatever the kernel's checker refuses.

use super::super::compile::skipped::{NETWORK, PROTOCOL};
use super::super::compile::{HARDWARE_TYPE, INTERFACE_INDEX, PACKET_TYPE};
use super::super::{Instruction, MOST_INSTRUCTIONS, code};

/// What a program sees.
pub(super) struct Arrival<'a> {
    /// The interface's type.
    pub(super) hardware: u16,
    /// The interface's number.
    pub(super) interface: u32,
    /// Whether it was for us, or from us.
    pub(super) kind: u32,
    /// Where the kernel has the network header.
    pub(super) network: usize,
    /// From the link's header on.
    pub(super) bytes: &'a [u8],
}

impl Arrival<'_> {
    fn load(&self, at: u64, width: usize) -> Option<u32> {
        if at == u64::from(HARDWARE_TYPE) {
            return Some(self.hardware.into());
        }
        if at == u64::from(INTERFACE_INDEX) {
            return Some(self.interface);
        }
        if at == u64::from(PACKET_TYPE) {
            return Some(self.kind);
        }
        if at == u64::from(PROTOCOL) {
            let first = self.bytes.get(self.network)?;
            let version = [0x0800, 0x86dd].into_iter().zip([4, 6]);
            return version
                .filter(|(_, number)| first >> 4 == *number)
                .map(|(kind, _)| kind)
                .next()
                .or(Some(0));
        }
        let at = usize::try_from(at).unwrap();
        let from_network = at.checked_sub(NETWORK as usize).map(|behind| self.network + behind);
        let at = from_network.unwrap_or(at);
        let bytes = self.bytes.get(at..at + width)?;
        Some(bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }
}

/// How many bytes the program keeps.
pub(super) fn run(program: &[Instruction], arrival: &Arrival<'_>) -> u32 {
    assert!(program.len() <= MOST_INSTRUCTIONS);
    assert_eq!(program.last().unwrap().code, code::KEEP);
    let (mut a, mut x) = (0_u32, 0_u32);
    let mut memory = [None; 16];
    let mut at = 0;
    loop {
        let Instruction { code, jt, jf, k } = program[at];
        at += 1;
        let cell = k as usize;
        let behind_x = u64::from(x) + u64::from(k);
        let load = match code {
            code::LOAD_WORD => Some((u64::from(k), 4)),
            code::LOAD_HALF => Some((u64::from(k), 2)),
            code::LOAD_WORD_AT_X => Some((behind_x, 4)),
            code::LOAD_HALF_AT_X => Some((behind_x, 2)),
            code::LOAD_BYTE_AT_X => Some((behind_x, 1)),
            _ => None,
        };
        if let Some((place, width)) = load {
            match arrival.load(place, width) {
                Some(number) => a = number,
                None => return 0, // the kernel ends a program that reads beyond the packet
            }
            continue;
        }
        let mut test = |holds: bool| at += usize::from(if holds { jt } else { jf });
        match code {
            code::IF_EQUAL => test(a == k),
            code::IF_ABOVE => test(a > k),
            code::IF_ANY_BIT => test(a & k != 0),
            code::GO => at += cell,
            code::LOAD_MEMORY => a = memory[cell].unwrap(),
            code::LOAD_X_MEMORY => x = memory[cell].unwrap(),
            code::STORE => memory[cell] = Some(a),
            code::STORE_X => memory[cell] = Some(x),
            code::LOAD_X_CONSTANT => x = k,
            code::ADD => a = a.wrapping_add(k),
            code::ADD_X => a = a.wrapping_add(x),
            code::AND => a &= k,
            code::SHIFT_LEFT => a <<= k,
            code::SHIFT_RIGHT => a >>= k,
            code::TO_X => x = a,
            code::FROM_X => a = x,
            code::KEEP => return k,
            other => panic!("no such operation: {other:#x}"),
        }
    }
}
