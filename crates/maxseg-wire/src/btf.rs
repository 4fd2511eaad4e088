//! The kernel's types as it tells them itself: `/sys/kernel/btf/vmlinux`, in BTF (the kernel's `Documentation/bpf/btf.rst`). Of
//! its many uses this reads what a BPF program takes: the number of a function, and where a structure has its members.

/// `BTF_MAGIC` and `BTF_VERSION`.
const MAGIC: u16 = 0xeb9f;
const VERSION: u8 = 1;
/// Bytes of `struct btf_type` and of `struct btf_member`.
const TYPE: usize = 12;
const MEMBER: usize = 12;

/// Types, and the text that their names are in.
#[derive(Debug, Clone, Copy)]
pub struct Btf<'a> {
    types: &'a [u8],
    names: &'a [u8],
}

/// What a type is, of those that can be looked for: `BTF_KIND_*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A structure.
    Structure = 4,
    /// A function.
    Function = 12,
}

/// A type that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Type<'a> {
    /// Its number, from 1.
    pub id: u32,
    members: &'a [u8],
    names: &'a [u8],
    /// Whether members tell their bits (`BTF_INFO_KFLAG`).
    tells_bits: bool,
}

/// The part of a type that all have.
struct Head {
    name: u32,
    kind: u32,
    has_flag: bool,
    /// Bytes that follow it.
    more: usize,
}

impl<'a> Btf<'a> {
    /// The types in a file's bytes; `None` where they are none of version 1 in this machine's byte order.
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk()?;
        let [version, _flags, rest @ ..] = rest else { return None };
        if (u16::from_ne_bytes(*magic), *version) != (MAGIC, VERSION) {
            return None;
        }
        let number =
            |index: usize| word(rest, 4 * index).and_then(|word| usize::try_from(word).ok());
        // Places count from the end of the header, which may have grown.
        let sections = bytes.get(number(0)?..)?;
        let section = |start: usize, length| sections.get(start..)?.get(..length);
        Some(Self {
            types: section(number(1)?, number(2)?)?,
            names: section(number(3)?, number(4)?)?,
        })
    }

    /// The types with these names; `None` for one that is not there, or there twice. All are found in one pass: no type tells
    /// where another one is.
    pub fn find<const N: usize>(&self, wanted: [(Kind, &str); N]) -> [Option<Type<'a>>; N] {
        let mut found = [(None, 0_usize); N];
        let (mut rest, mut id) = (self.types, 0);
        while let Some((head, behind)) = rest.split_first_chunk::<TYPE>() {
            let Some(head) = Head::of(head) else { break };
            let Some((more, next)) = behind.split_at_checked(head.more) else { break };
            (rest, id) = (next, id + 1);
            for ((kind, name), (place, count)) in wanted.iter().zip(&mut found) {
                if head.kind == *kind as u32 && is_name(self.names, head.name, name) {
                    let (members, names, tells_bits) = (more, self.names, head.has_flag);
                    *place = Some(Type { id, members, names, tells_bits });
                    *count += 1;
                }
            }
        }
        found.map(|(place, count)| place.filter(|_| count == 1))
    }
}

impl Head {
    /// `None` of a kind that is not known: how long it is neither.
    fn of(bytes: &[u8; TYPE]) -> Option<Self> {
        let (name, info) = (word(bytes, 0)?, word(bytes, 4)?);
        // Bits 24 to 28, 0 to 15 and 31 of `info`.
        let kind = info >> 24 & 0x1f;
        let count = usize::try_from(info & 0xffff).ok()?;
        let more = match kind {
            // Pointers, forward declarations, names for types, qualifiers, functions, floats, tags of types.
            2 | 7..=12 | 16 | 18 => 0,
            // Integers, variables, tags of declarations.
            1 | 14 | 17 => 4,
            // Arrays.
            3 => 12,
            // Enumerations and the parameters of functions.
            6 | 13 => 8 * count,
            // Structures, unions, sections, enumerations of 64 bits.
            4 | 5 | 15 | 19 => MEMBER * count,
            _ => return None,
        };
        Some(Self { name, kind, has_flag: info >> 31 != 0, more })
    }
}

impl Type<'_> {
    /// Bytes in front of a structure's member; `None` where it has none of this name itself, or one of bits.
    pub fn offset_of(&self, member: &str) -> Option<usize> {
        let mut members = self.members.chunks_exact(MEMBER);
        let found =
            members.find(|one| word(one, 0).is_some_and(|at| is_name(self.names, at, member)))?;
        let place = word(found, 8)?;
        // With the flag, the highest byte is how many bits a field of bits has.
        let (bits, is_field) =
            if self.tells_bits { (place & 0xff_ffff, place >> 24 != 0) } else { (place, false) };
        let is_whole = !is_field && bits.is_multiple_of(8);
        is_whole.then_some(bits / 8).and_then(|bytes| usize::try_from(bytes).ok())
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

/// Whether the name at a place of the text is this one, which a zero ends: few others have one there.
fn is_name(names: &[u8], at: u32, name: &str) -> bool {
    let text = usize::try_from(at).ok().and_then(|at| names.get(at..)).unwrap_or_default();
    text.get(name.len()) == Some(&0) && text.starts_with(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A file of types: each a name, `info`, a size, and the words behind it. A name is given by its place in [`NAMES`].
    fn file(types: &[(u32, u32, u32, &[u32])]) -> Vec<u8> {
        let mut words = Vec::new();
        for (name, info, size, more) in types {
            words.extend([*name, *info, *size]);
            words.extend_from_slice(more);
        }
        let length = u32::try_from(4 * words.len()).unwrap();
        let mut bytes = MAGIC.to_ne_bytes().to_vec();
        bytes.extend([VERSION, 0]);
        let header = [24, 0, length, length, u32::try_from(NAMES.len()).unwrap()];
        bytes.extend(header.iter().chain(&words).flat_map(|word| word.to_ne_bytes()));
        bytes.extend(NAMES.as_bytes());
        bytes
    }

    const NAMES: &str = "\0file\0f_inode\0bits\0walk\0";
    const FILE: u32 = 1;
    const INODE: u32 = 6;
    const BITS: u32 = 14;
    const WALK: u32 = 19;
    const STRUCTURE: u32 = 4 << 24;
    const FLAG: u32 = 1 << 31;

    #[test]
    fn a_function_has_its_number_and_a_structure_its_members() {
        let bytes = file(&[
            (0, 1 << 24, 4, &[32]),
            (0, 6 << 24 | 1, 4, &[BITS, 7]),
            (FILE, STRUCTURE | 2, 24, &[BITS, 1, 0, INODE, 1, 128]),
            (0, 13 << 24 | 1, 0, &[0, 1]),
            (WALK, 12 << 24, 4, &[]),
        ]);
        let wanted =
            [(Kind::Function, "walk"), (Kind::Structure, "file"), (Kind::Structure, "walk")];
        let [walk, file, none] = Btf::decode(&bytes).unwrap().find(wanted);
        assert_eq!((walk.unwrap().id, none), (5, None));
        let file = file.unwrap();
        assert_eq!(
            (file.id, file.offset_of("f_inode"), file.offset_of("inode")),
            (3, Some(16), None)
        );
    }

    #[test]
    fn fields_of_bits_have_no_place_and_names_that_are_there_twice_no_type() {
        let members = [BITS, 1, 3 << 24 | 64, INODE, 1, 128];
        let flagged = (FILE, FLAG | STRUCTURE | 2, 24, &members[..]);
        let bytes = file(&[flagged]);
        let [found] = Btf::decode(&bytes).unwrap().find([(Kind::Structure, "file")]);
        let found = found.unwrap();
        assert_eq!((found.offset_of("bits"), found.offset_of("f_inode")), (None, Some(16)));
        let bytes = file(&[flagged, flagged]);
        assert_eq!(Btf::decode(&bytes).unwrap().find([(Kind::Structure, "file")]), [None]);
    }

    #[test]
    fn what_is_no_btf_is_none() {
        let bytes = file(&[]);
        assert!(Btf::decode(&bytes).is_some());
        for at in [0, 2] {
            let mut other = bytes.clone();
            other[at] ^= 0xff;
            assert!(Btf::decode(&other).is_none());
        }
        assert!(Btf::decode(&bytes[..bytes.len() - 1]).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_their_end(
            types in proptest::collection::vec(any::<u32>(), 0..60),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = file(&[(0, types.first().copied().unwrap_or_default(), 0, &types)]);
            bytes.truncate(cut.index(bytes.len()) + 1);
            crate::fuzz::btf(&bytes);
        }
    }
}
