//! The MSS clamp of a gateway.

use maxseg_core::tune::Value;

use super::{Reading, TuneError};

pub(super) fn read(_interface: &str, _image: Option<&str>) -> Result<Reading, TuneError> {
    Err(TuneError::NotBuilt("an MSS clamp"))
}

pub(super) fn write(_: &str, _: &Value, _image: Option<&str>) -> Result<(), TuneError> {
    Err(TuneError::NotBuilt("an MSS clamp"))
}
