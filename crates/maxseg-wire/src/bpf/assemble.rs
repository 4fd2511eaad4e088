//! An assembler: instructions with labels to a BPF program.

use super::{Instruction, MOST_INSTRUCTIONS, TooLong, code};

/// A jump target, which may be placed later.
#[derive(Debug, Clone, Copy)]
pub(super) struct Label(usize);

/// A program under construction. Classic BPF jumps forward only.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    lines: Vec<Line>,
    /// The line of each label.
    places: Vec<usize>,
}

#[derive(Debug)]
enum Line {
    Plain(u16, u32),
    Go(Label),
    Test { code: u16, k: u32, yes: Label, no: Label },
}

impl Assembler {
    /// A new label, not yet placed.
    pub(super) fn label(&mut self) -> Label {
        self.places.push(usize::MAX);
        Label(self.places.len() - 1)
    }

    /// Places the label before the next instruction.
    pub(super) fn place(&mut self, label: Label) {
        let here = self.lines.len();
        if let Some(place) = self.places.get_mut(label.0) {
            *place = here;
        }
    }

    /// Appends an instruction other than a jump.
    pub(super) fn plain(&mut self, code: u16, k: u32) {
        self.lines.push(Line::Plain(code, k));
    }

    /// Jumps to the label.
    pub(super) fn go(&mut self, to: Label) {
        self.lines.push(Line::Go(to));
    }

    /// Jumps to the label if the test is true.
    pub(super) fn go_if(&mut self, code: u16, k: u32, yes: Label) {
        let next = self.label();
        self.lines.push(Line::Test { code, k, yes, no: next });
        self.place(next);
    }

    /// Jumps to the label if the test is false.
    pub(super) fn go_unless(&mut self, code: u16, k: u32, no: Label) {
        let next = self.label();
        self.lines.push(Line::Test { code, k, yes: next, no });
        self.place(next);
    }

    /// Assembles the program.
    ///
    /// A test skips at most 255 instructions; a longer one is followed by two unconditional jumps. A test that
    /// becomes long may push others out of range, and none becomes short again, so the loop ends.
    ///
    /// # Errors
    /// The program exceeds [`MOST_INSTRUCTIONS`].
    pub(super) fn assemble(&self) -> Result<Vec<Instruction>, TooLong> {
        let mut is_long = vec![false; self.lines.len()];
        loop {
            let starts = starts(&is_long);
            let short = |((line, long), start): ((&Line, &bool), &usize)| {
                let Line::Test { yes, no, .. } = line else { return true };
                *long || [yes, no].iter().all(|to| self.skip(**to, *start, &starts) <= 255)
            };
            let fits: Vec<bool> = self.lines.iter().zip(&is_long).zip(&starts).map(short).collect();
            if fits.iter().all(|fits| *fits) {
                return self.emit(&is_long, &starts);
            }
            for (long, fits) in is_long.iter_mut().zip(&fits) {
                *long |= !fits;
            }
        }
    }

    /// Instructions between the one at `from` and the label.
    fn skip(&self, to: Label, from: usize, starts: &[usize]) -> usize {
        let line = self.places.get(to.0).copied().unwrap_or(usize::MAX);
        let target = starts.get(line).copied().unwrap_or(usize::MAX);
        target.saturating_sub(from + 1)
    }

    fn emit(&self, is_long: &[bool], starts: &[usize]) -> Result<Vec<Instruction>, TooLong> {
        let length = starts.last().copied().unwrap_or(0);
        if length > MOST_INSTRUCTIONS {
            return Err(TooLong(length));
        }
        let mut program = Vec::with_capacity(length);
        let near = |skip: usize| u8::try_from(skip).unwrap_or(u8::MAX);
        let far = |skip: usize| u32::try_from(skip).unwrap_or(u32::MAX);
        let go = |skip| Instruction { code: code::GO, jt: 0, jf: 0, k: far(skip) };
        for ((line, long), start) in self.lines.iter().zip(is_long).zip(starts) {
            match line {
                Line::Plain(code, k) => {
                    program.push(Instruction { code: *code, jt: 0, jf: 0, k: *k });
                }
                Line::Go(to) => program.push(go(self.skip(*to, *start, starts))),
                Line::Test { code, k, yes, no } if *long => {
                    program.push(Instruction { code: *code, jt: 0, jf: 1, k: *k });
                    program.push(go(self.skip(*yes, start + 1, starts)));
                    program.push(go(self.skip(*no, start + 2, starts)));
                }
                Line::Test { code, k, yes, no } => program.push(Instruction {
                    code: *code,
                    jt: near(self.skip(*yes, *start, starts)),
                    jf: near(self.skip(*no, *start, starts)),
                    k: *k,
                }),
            }
        }
        Ok(program)
    }
}

/// Index of each line's first instruction, followed by the length of the program.
fn starts(is_long: &[bool]) -> Vec<usize> {
    let mut next = 0;
    let mut starts = vec![0];
    for long in is_long {
        next += if *long { 3 } else { 1 };
        starts.push(next);
    }
    starts
}
