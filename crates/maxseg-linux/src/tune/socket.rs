//! Options of a connection of another process.

use maxseg_core::tune::{SocketEnds, SocketOption, Value};

use super::{Reading, TuneError};

pub(super) fn read(
    _: &SocketEnds,
    _: SocketOption,
    _image: Option<&str>,
) -> Result<Reading, TuneError> {
    Err(TuneError::NotBuilt("an option of a connection"))
}

pub(super) fn write(
    _: &SocketEnds,
    _: SocketOption,
    _: &Value,
    _image: Option<&str>,
) -> Result<(), TuneError> {
    Err(TuneError::NotBuilt("an option of a connection"))
}
