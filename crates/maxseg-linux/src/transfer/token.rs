//! That a client has the token, without sending it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};

use hmac::{Hmac, KeyInit as _, Mac as _};
use maxseg_wire::responder::{CODE, NONCE};
use sha2::Sha256;

/// Before the nonces, so that the code is of use nowhere else.
const PURPOSE: &[u8] = b"maxseg responder 1";

/// HMAC-SHA-256 (RFC 2104) of both nonces: since each end has chosen one, a code is of no use a second time.
fn code_of(token: &str, nonces: [&[u8; NONCE]; 2]) -> Option<Hmac<Sha256>> {
    let mut code = Hmac::<Sha256>::new_from_slice(token.as_bytes()).ok()?;
    code.update(PURPOSE);
    for nonce in nonces {
        code.update(nonce);
    }
    Some(code)
}

/// The client's proof: of its own nonce, and then the responder's.
pub(crate) fn proof(token: &str, nonces: [&[u8; NONCE]; 2]) -> [u8; CODE] {
    // A key of any length is one.
    code_of(token, nonces).map_or([0; CODE], |code| code.finalize().into_bytes().into())
}

/// Whether a proof is of this token; takes as long for any wrong one.
pub(crate) fn is_proven(token: &str, nonces: [&[u8; NONCE]; 2], code: &[u8; CODE]) -> bool {
    code_of(token, nonces).is_some_and(|own| own.verify_slice(code).is_ok())
}

/// Bytes that nobody can guess.
///
/// # Errors
/// The kernel's random numbers cannot be read.
pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// A token of 128 bits.
///
/// # Errors
/// The kernel's random numbers cannot be read.
pub(crate) fn make_token() -> io::Result<String> {
    let mut token = String::new();
    for byte in random::<16>()? {
        let _ = write!(token, "{byte:02x}");
    }
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_of_one_token_and_of_both_nonces() {
        let (client, server) = ([1; NONCE], [2; NONCE]);
        let code = proof("token", [&client, &server]);
        assert!(is_proven("token", [&client, &server], &code));
        assert!(!is_proven("Token", [&client, &server], &code));
        assert!(!is_proven("token", [&server, &client], &code));
        assert!(!is_proven("token", [&client, &[3; NONCE]], &code), "of use once");
        assert_ne!(make_token().unwrap(), make_token().unwrap());
    }
}
