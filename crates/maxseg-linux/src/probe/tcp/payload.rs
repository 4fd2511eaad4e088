//! What is sent where only the far end's acknowledgement of new bytes shows arrival: the beginning of a request that never ends.
//! A service waits for the rest and executes nothing.

/// Bytes that are harmless to the service of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// A TLS record that announces more than is sent: a `ClientHello` with padding (RFC 8446 §4.1.2, RFC 7685).
    TlsClientHello,
    /// Header lines of a HEAD request, without the empty line that ends them (RFC 9112 §2.1).
    HttpHeader,
    /// Spaces, without the end of a line.
    Spaces,
}

/// Ports of services that speak TLS at once (IANA).
const TLS: [u16; 5] = [443, 853, 993, 995, 8443];
/// Ports of services that speak HTTP.
const HTTP: [u16; 4] = [80, 3128, 8000, 8080];

impl Payload {
    /// For the service that a port is assigned to.
    pub fn of_port(port: u16) -> Self {
        if TLS.contains(&port) {
            Self::TlsClientHello
        } else if HTTP.contains(&port) {
            Self::HttpHeader
        } else {
            Self::Spaces
        }
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::TlsClientHello => "the beginning of a TLS ClientHello",
            Self::HttpHeader => "the beginning of an HTTP request header",
            Self::Spaces => "spaces",
        }
    }

    /// So many bytes of it.
    pub fn bytes(self, len: usize) -> Vec<u8> {
        let mut bytes = match self {
            Self::TlsClientHello => client_hello(),
            Self::HttpHeader => http_header(len),
            Self::Spaces => Vec::new(),
        };
        bytes.resize(len, if self == Self::Spaces { b' ' } else { 0 });
        bytes
    }
}

/// A handshake record of 16,384 bytes, the most that there is (RFC 8446 §5.1), as far as its padding extension.
fn client_hello() -> Vec<u8> {
    const RECORD: u16 = 1 << 14;
    let length = |outer: u16, header: u16| (outer - header).to_be_bytes();
    let mut bytes = vec![22, 3, 1];
    bytes.extend(RECORD.to_be_bytes());
    bytes.extend([1, 0]);
    bytes.extend(length(RECORD, 4));
    // Version, random, no session, one cipher suite, no compression.
    bytes.extend([3, 3]);
    bytes.extend([0; 32]);
    bytes.extend([0, 0, 2, 0x13, 0x01, 1, 0]);
    let before_extensions = 4 + 2 + 32 + 7 + 2;
    bytes.extend(length(RECORD, before_extensions));
    bytes.extend([0, 21]);
    bytes.extend(length(RECORD, before_extensions + 4));
    bytes
}

/// Lines of fewer than 1,000 bytes: what every server takes.
fn http_header(len: usize) -> Vec<u8> {
    const LINE: usize = 900;
    let mut text = String::from("HEAD / HTTP/1.1\r\nUser-Agent: maxseg\r\n");
    while text.len() < len {
        text.push_str("X-Padding: ");
        text.extend(std::iter::repeat_n('.', LINE));
        text.push_str("\r\n");
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_ever_finished() {
        for len in [1, 100, 512, 1448, 9200] {
            for payload in [Payload::TlsClientHello, Payload::HttpHeader, Payload::Spaces] {
                let bytes = payload.bytes(len);
                assert_eq!(bytes.len(), len);
                assert!(!bytes.windows(4).any(|four| four == b"\r\n\r\n"), "{payload:?}");
            }
            assert!(!Payload::Spaces.bytes(len).contains(&b'\n'));
        }
        let lines = Payload::HttpHeader.bytes(9200);
        assert!(lines.split(|byte| *byte == b'\n').all(|line| line.len() < 1000));
    }

    #[test]
    fn a_client_hello_counts_its_own_bytes() {
        let bytes = Payload::TlsClientHello.bytes(9200);
        let number = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
        let record = number(3);
        assert_eq!((bytes[0], record), (22, 16_384));
        assert_eq!((bytes[5], number(7)), (1, record - 4), "of the handshake message");
        // Record header, message header, version and random, then what has a length.
        let (session, suites) = (9 + 2 + 32, 9 + 2 + 32 + 1);
        assert_eq!((bytes[session], number(suites)), (0, 2));
        let extensions = suites + 4 + 2;
        assert_eq!(number(extensions), 5 + record - (extensions + 2));
        assert_eq!(number(extensions + 2), 21);
        assert_eq!(number(extensions + 4), 5 + record - (extensions + 6));
    }
}
