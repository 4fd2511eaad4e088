//! JSON of long lists of structs. A key is a field's name, in which nothing wants escaping; `serde_json` looks at each of its
//! characters, and forty keys a row are a third of all its work. All else is as `serde_json` writes it.

use std::io;

use serde::ser::{Error as _, Impossible, Serialize, SerializeSeq, SerializeStruct, Serializer};
use serde_json::Error;

/// Writes structs, lists, words and numbers in one line.
pub(super) struct Json<'w, W>(pub(super) &'w mut W);

impl<W: io::Write> Json<'_, W> {
    fn put(&mut self, text: &str) -> Result<(), Error> {
        self.0.write_all(text.as_bytes()).map_err(Error::io)
    }
}

/// Methods whose values `serde_json` writes.
macro_rules! as_serde_json_does {
    ($($method:ident: $type:ty),* $(,)?) => {$(
        fn $method(self, value: $type) -> Result<(), Error> {
            serde_json::Serializer::new(self.0).$method(value)
        }
    )*};
}

impl<'w, W: io::Write> Serializer for Json<'w, W> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = List<'w, W>;
    type SerializeStruct = Object<'w, W>;
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
        serialize_f64: f64,
        serialize_char: char,
        serialize_str: &str,
        serialize_bytes: &[u8],
    }

    fn serialize_none(mut self) -> Result<(), Error> {
        self.put("null")
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(mut self) -> Result<(), Error> {
        self.put("null")
    }

    fn serialize_unit_struct(mut self, _: &'static str) -> Result<(), Error> {
        self.put("null")
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
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

    fn serialize_seq(mut self, _: Option<usize>) -> Result<List<'w, W>, Error> {
        self.put("[")?;
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

    fn serialize_struct(mut self, _: &'static str, _: usize) -> Result<Object<'w, W>, Error> {
        self.put("{")?;
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

fn not_written() -> Error {
    Error::custom("maps, tuples and variants with content have no place in lists of connections")
}

/// The elements of a list.
pub(super) struct List<'w, W> {
    out: &'w mut W,
    is_first: bool,
}

impl<W: io::Write> SerializeSeq for List<'_, W> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        if !std::mem::take(&mut self.is_first) {
            Json(self.out).put(",")?;
        }
        value.serialize(Json(self.out))
    }

    fn end(self) -> Result<(), Error> {
        Json(self.out).put("]")
    }
}

/// The fields of a struct.
pub(super) struct Object<'w, W> {
    out: &'w mut W,
    is_first: bool,
}

impl<W: io::Write> SerializeStruct for Object<'_, W> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let mut json = Json(self.out);
        json.put(if std::mem::take(&mut self.is_first) { "\"" } else { ",\"" })?;
        json.put(key)?;
        json.put("\":")?;
        value.serialize(json)
    }

    fn end(self) -> Result<(), Error> {
        Json(self.out).put("}")
    }
}
