//! Large pages for large memory.

use std::io;

/// Bytes of a huge page: of most machines, and a multiple of their other pages.
const HUGE: usize = 2 << 20;

/// Asks the kernel for huge pages behind the room of a vector, where it gives them to whoever asks (madvise(2),
/// `MADV_HUGEPAGE`): memory that is filled once then takes a page fault for every 2 MiB instead of every 4 KiB.
///
/// # Errors
/// The kernel has none. The memory is as good as before.
#[expect(unsafe_code, reason = "nix has the same, and as unsafe")]
pub fn prefer_huge_pages(memory: &mut Vec<u8>) -> io::Result<()> {
    let start = memory.as_mut_ptr();
    let before = start.align_offset(HUGE);
    let length = memory.capacity().saturating_sub(before) / HUGE * HUGE;
    if length == 0 {
        return Ok(());
    }
    // SAFETY: the range is within the vector's own memory, and the advice changes nothing of what is in it.
    let result = unsafe { libc::madvise(start.add(before).cast(), length, libc::MADV_HUGEPAGE) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_the_memory_stays() {
        for room in [0, 100, 8 * HUGE] {
            let mut memory = Vec::with_capacity(room);
            memory.extend_from_slice(b"a list");
            // A kernel without huge pages says so.
            let _ = prefer_huge_pages(&mut memory);
            memory.resize(memory.capacity(), 7);
            assert!(memory.starts_with(b"a list"));
        }
    }
}
