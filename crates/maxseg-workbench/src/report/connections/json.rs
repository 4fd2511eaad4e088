//! JSON of long lists of structs. A key is a field's name, in which nothing wants escaping; `serde_json` looks at each of its
//! characters, and forty keys a row are a third of all its work. All else is as `serde_json` writes it.

use std::io;

use serde::ser::{Error as _, Impossible, Serialize, SerializeSeq, SerializeStruct, Serializer};
use serde_json::Error;

/// Where the text goes, in large pieces.
pub(super) struct Pieces<'o> {
    pending: Vec<u8>,
    fractions: Box<[Fraction; FRACTIONS]>,
    out: &'o mut dyn io::Write,
}

/// A number that was written before: many connections have the same timeouts, round trips and rates.
#[derive(Debug, Clone, Copy, Default)]
struct Fraction {
    bits: u64,
    text: [u8; LONGEST],
    length: usize,
}

/// Numbers that are remembered: two to the power of so many bits.
const FRACTION_BITS: u32 = 8;
const FRACTIONS: usize = 1 << FRACTION_BITS;
/// Characters of `-2.2250738585072014e-308`.
const LONGEST: usize = 24;

/// So much is written at once.
const PIECE: usize = 1 << 16;

impl<'o> Pieces<'o> {
    pub(super) fn new(out: &'o mut dyn io::Write) -> Self {
        Self {
            pending: Vec::with_capacity(2 * PIECE),
            fractions: Box::new([Fraction::default(); FRACTIONS]),
            out,
        }
    }

    /// Writes a number as `serde_json` does.
    fn put_fraction(&mut self, value: f64) -> Result<(), Error> {
        let bits = value.to_bits();
        // Fibonacci hashing: the highest bits of the product.
        let place = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - FRACTION_BITS);
        let known = &mut self.fractions[usize::try_from(place).unwrap_or(0) % FRACTIONS];
        if known.bits == bits && known.length > 0 {
            self.pending.extend_from_slice(&known.text[..known.length]);
            return Ok(());
        }
        let start = self.pending.len();
        serde_json::Serializer::new(&mut self.pending).serialize_f64(value)?;
        let text = &self.pending[start..];
        if let Some(room) = known.text.get_mut(..text.len()) {
            room.copy_from_slice(text);
            (known.bits, known.length) = (bits, text.len());
        }
        Ok(())
    }

    // Most of the text are keys: inlined, a copy of a few numbers instead of a call.
    #[inline(always)]
    fn put(&mut self, text: &str) {
        self.pending.extend_from_slice(text.as_bytes());
    }

    /// Writes text in which nothing wants escaping.
    fn put_word(&mut self, word: &str) {
        self.put("\"");
        self.put(word);
        self.put("\"");
    }

    fn write_if_large(&mut self) -> Result<(), Error> {
        if self.pending.len() < PIECE {
            return Ok(());
        }
        self.write().map_err(Error::io)
    }

    fn write(&mut self) -> io::Result<()> {
        self.out.write_all(&self.pending)?;
        self.pending.clear();
        Ok(())
    }

    /// Writes what is left, and a line's end.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.put("\n");
        self.write()?;
        self.out.flush()
    }
}

/// Writes structs, lists, words and numbers in one line.
pub(super) struct Json<'w, 'o>(pub(super) &'w mut Pieces<'o>);

/// Methods whose values `serde_json` writes.
macro_rules! as_serde_json_does {
    ($($method:ident: $type:ty),* $(,)?) => {$(
        fn $method(self, value: $type) -> Result<(), Error> {
            serde_json::Serializer::new(&mut self.0.pending).$method(value)
        }
    )*};
}

impl<'w, 'o> Serializer for Json<'w, 'o> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = List<'w, 'o>;
    type SerializeStruct = Object<'w, 'o>;
    type SerializeTuple = Impossible<(), Error>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    as_serde_json_does! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_f32: f32,
        serialize_char: char,
        serialize_bytes: &[u8],
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.0.put_fraction(value)
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        if wants_escaping(value) {
            return serde_json::Serializer::new(&mut self.0.pending).serialize_str(value);
        }
        self.0.put_word(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.0.put("null");
        Ok(())
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.serialize_none()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_none()
    }

    /// Its name wants no escaping, as a field's.
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.0.put_word(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Error> {
        Err(not_written())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<'w, 'o>, Error> {
        self.0.put("[");
        Ok(List { out: self.0, is_first: true })
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Error> {
        Err(not_written())
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Error> {
        Err(not_written())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        Err(not_written())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Error> {
        Err(not_written())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Object<'w, 'o>, Error> {
        self.0.put("{");
        Ok(Object { out: self.0, is_first: true })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        Err(not_written())
    }
}

/// Whether JSON escapes some character of a text: a control character, a quote or a backslash. Most text has none, which is
/// quickest to see of eight bytes at once.
fn wants_escaping(text: &str) -> bool {
    let (words, rest) = text.as_bytes().as_chunks();
    words.iter().any(|word| has_escaped(u64::from_ne_bytes(*word)))
        || rest.iter().any(|byte| matches!(byte, 0..b' ' | b'"' | b'\\'))
}

/// The same of eight bytes.
fn has_escaped(word: u64) -> bool {
    const EACH: u64 = u64::MAX / 255;
    // A byte below the limit borrows from its highest bit (Anderson, "Bit Twiddling Hacks", hasless).
    let below = |word: u64, limit: u64| word.wrapping_sub(EACH * limit) & !word & (EACH << 7);
    let equal = |byte: u8| below(word ^ (EACH * u64::from(byte)), 1);
    below(word, u64::from(b' ')) | equal(b'"') | equal(b'\\') != 0
}

fn not_written() -> Error {
    Error::custom("maps, tuples and variants with content have no place in lists of connections")
}

/// The elements of a list.
pub(super) struct List<'w, 'o> {
    out: &'w mut Pieces<'o>,
    is_first: bool,
}

impl SerializeSeq for List<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        if !std::mem::take(&mut self.is_first) {
            self.out.put(",");
        }
        value.serialize(Json(self.out))
    }

    fn end(self) -> Result<(), Error> {
        self.out.put("]");
        Ok(())
    }
}

/// The fields of a struct.
pub(super) struct Object<'w, 'o> {
    out: &'w mut Pieces<'o>,
    is_first: bool,
}

impl SerializeStruct for Object<'_, '_> {
    type Ok = ();
    type Error = Error;

    #[inline(always)]
    fn serialize_field<T: ?Sized + Serialize>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.out.pending.reserve(key.len() + 4);
        self.out.put(if std::mem::take(&mut self.is_first) { "\"" } else { ",\"" });
        self.out.put(key);
        self.out.put("\":");
        value.serialize(Json(self.out))
    }

    fn end(self) -> Result<(), Error> {
        self.out.put("}");
        self.out.write_if_large()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_is_seen_wherever_it_stands() {
        for byte in 0..=127_u8 {
            let escaped = byte < b' ' || byte == b'"' || byte == b'\\';
            // Neighbours of what is escaped, and bytes above 127.
            let plain = "!#[]!\u{7f} é!#[]";
            assert!(!wants_escaping(plain));
            for (place, _) in plain.char_indices() {
                let mut text = plain.to_owned();
                text.insert(place, char::from(byte));
                assert_eq!(wants_escaping(&text), escaped, "{byte} at {place}");
            }
        }
    }
}
