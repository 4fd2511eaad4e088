//! Which connections are to be shown: `host 10.0.0.1 and not port 22`.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use maxseg_core::evidence::Evidence;

/// A condition on a connection. The words are those of packet filters, as far as they mean something for a whole
/// connection:
///
/// ```text
/// or   = and ("or" and)*           "||" is "or"
/// and  = not ("and" not)*          "&&" is "and"
/// not  = "not" not | "(" or ")" | test      "!" is "not"
/// test = ["client" | "server"] ("host" ADDRESS | "port" NUMBER) | "stream" NUMBER
/// ```
/// Without `client` or `server`, either end will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionFilter {
    /// An end has this address.
    Host(Ends, IpAddr),
    /// An end has this port.
    Port(Ends, u16),
    /// The connection has this number.
    Stream(u32),
    /// It does not hold.
    Not(Box<Self>),
    /// Both hold.
    And(Box<Self>, Box<Self>),
    /// One of them holds.
    Or(Box<Self>, Box<Self>),
}

/// Which ends of a connection are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Who opened it.
    Client,
    /// Whom it was opened to.
    Server,
    /// Either.
    Either,
}

/// Why a text is no filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    text: String,
    /// In characters from the beginning.
    at: usize,
    /// In characters; at least 1.
    width: usize,
    what: String,
    hint: &'static str,
}

impl ConnectionFilter {
    /// Whether it holds of a connection.
    pub fn accepts(&self, evidence: &Evidence) -> bool {
        match self {
            Self::Host(ends, host) => ends.any(evidence, |end| end.ip().to_canonical() == *host),
            Self::Port(ends, port) => ends.any(evidence, |end| end.port() == *port),
            Self::Stream(id) => evidence.id == *id,
            Self::Not(inner) => !inner.accepts(evidence),
            Self::And(a, b) => a.accepts(evidence) && b.accepts(evidence),
            Self::Or(a, b) => a.accepts(evidence) || b.accepts(evidence),
        }
    }
}

impl Ends {
    fn any(self, evidence: &Evidence, test: impl Fn(SocketAddr) -> bool) -> bool {
        match self {
            Self::Client => test(evidence.client),
            Self::Server => test(evidence.server),
            Self::Either => test(evidence.client) || test(evidence.server),
        }
    }
}

impl FromStr for ConnectionFilter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let mut parser = Parser { text, words: words(text), next: 0, depth: 0 };
        let filter = parser.or()?;
        match parser.peek() {
            None => Ok(filter),
            Some(word) => {
                let what = format!("`{}` is one too many", word.text);
                Err(parser.error(Some(word), what, "join conditions with `and` or `or`"))
            }
        }
    }
}

/// A word, and where it stands.
#[derive(Debug, Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    at: usize,
}

/// The words of a text; brackets and signs stand for themselves.
fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = text;
    let mut at = 0;
    while let Some(first) = rest.chars().next() {
        let is_sign = |c: char| matches!(c, '(' | ')' | '!');
        let end = if first.is_whitespace() || is_sign(first) {
            first.len_utf8()
        } else {
            rest.find(|c: char| c.is_whitespace() || is_sign(c)).unwrap_or(rest.len())
        };
        let (word, behind) = rest.split_at(end);
        if !first.is_whitespace() {
            words.push(Word { text: word, at });
        }
        at += word.chars().count();
        rest = behind;
    }
    words
}

struct Parser<'a> {
    text: &'a str,
    words: Vec<Word<'a>>,
    next: usize,
    depth: usize,
}

/// More brackets and negations inside each other than anybody writes.
const DEEPEST: usize = 100;

const CONDITIONS: &str = "`host ADDRESS`, `port NUMBER` (of either end, or with `client` or `server` before it) or `stream NUMBER`";

impl<'a> Parser<'a> {
    fn or(&mut self) -> Result<ConnectionFilter, FilterError> {
        let mut left = self.and()?;
        while self.takes(&["or", "||"]) {
            left = ConnectionFilter::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<ConnectionFilter, FilterError> {
        let mut left = self.not()?;
        while self.takes(&["and", "&&"]) {
            left = ConnectionFilter::And(Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<ConnectionFilter, FilterError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let what = "too many brackets inside each other".to_owned();
            return Err(self.error(self.peek(), what, "take some away"));
        }
        let filter = if self.takes(&["not", "!"]) {
            ConnectionFilter::Not(Box::new(self.not()?))
        } else if self.takes(&["("]) {
            let inner = self.or()?;
            if !self.takes(&[")"]) {
                let what = "a bracket is not closed".to_owned();
                return Err(self.error(self.peek(), what, "put a `)` here"));
            }
            inner
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(filter)
    }

    fn test(&mut self) -> Result<ConnectionFilter, FilterError> {
        let ends = if self.takes(&["client"]) {
            Some(Ends::Client)
        } else if self.takes(&["server"]) {
            Some(Ends::Server)
        } else {
            None
        };
        let either = ends.unwrap_or(Ends::Either);
        if self.takes(&["host"]) {
            let hint =
                "an address is written such as 10.0.0.1 or 2001:db8::1; names are not looked up";
            let host: IpAddr = self.value("an address", hint)?;
            return Ok(ConnectionFilter::Host(either, host.to_canonical()));
        }
        if self.takes(&["port"]) {
            let hint = "a port is a number from 0 to 65535";
            return Ok(ConnectionFilter::Port(either, self.value("a port", hint)?));
        }
        if ends.is_none() && self.takes(&["stream"]) {
            let hint = "a stream is the number of a connection, counted from 0";
            return Ok(ConnectionFilter::Stream(self.value("a number", hint)?));
        }
        let word = self.peek();
        let (what, hint) = match word.map(|word| word.text) {
            None => ("a condition is missing".to_owned(), CONDITIONS),
            Some("src" | "dst") => (
                "a connection has no source and destination: both of its ends send".to_owned(),
                "say `client` for the end that opened it, and `server` for the other",
            ),
            Some("tcp" | "ip" | "ip6" | "udp") => (
                "every connection here is TCP over IP".to_owned(),
                "name a host, a port or a stream",
            ),
            Some(other) => (format!("`{other}` is no condition"), CONDITIONS),
        };
        Err(self.error(word, what, hint))
    }

    fn value<T: FromStr>(&mut self, wanted: &str, hint: &'static str) -> Result<T, FilterError> {
        let word = self.peek();
        match word.map(|word| word.text.parse()) {
            Some(Ok(value)) => {
                self.next += 1;
                Ok(value)
            }
            Some(Err(_)) => {
                let what = format!("`{}` is not {wanted}", word.map_or("", |word| word.text));
                Err(self.error(word, what, hint))
            }
            None => Err(self.error(None, format!("{wanted} is missing"), hint)),
        }
    }

    fn peek(&self) -> Option<Word<'a>> {
        self.words.get(self.next).copied()
    }

    fn takes(&mut self, wanted: &[&str]) -> bool {
        let is_it = self.peek().is_some_and(|word| wanted.contains(&word.text));
        self.next += usize::from(is_it);
        is_it
    }

    fn error(&self, at: Option<Word<'_>>, what: String, hint: &'static str) -> FilterError {
        FilterError {
            text: self.text.to_owned(),
            at: at.map_or_else(|| self.text.trim_end().chars().count(), |word| word.at),
            width: at.map_or(1, |word| word.text.chars().count()),
            what,
            hint,
        }
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, at, width, what, hint } = self;
        // Tabs and line ends would move the marks away from what they are under.
        let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        write!(f, "{what}\n  {line}\n  {}{}\n{hint}", " ".repeat(*at), "^".repeat(*width))
    }
}

impl std::error::Error for FilterError {}

#[cfg(test)]
mod tests {
    use super::super::made::connection;
    use super::*;

    fn accepted(text: &str) -> Vec<u32> {
        let filter: ConnectionFilter = text.parse().unwrap();
        let mut other = connection(1);
        other.client = "[2001:db8::1]:5000".parse().unwrap();
        other.server = "[2001:db8::2]:22".parse().unwrap();
        let all = [connection(0), other];
        all.iter().filter(|evidence| filter.accepts(evidence)).map(|evidence| evidence.id).collect()
    }

    #[test]
    fn conditions_and_how_they_join() {
        // The first is from 10.0.0.1:40000 to 10.0.0.2:443.
        let cases: [(&str, &[u32]); 15] = [
            ("host 10.0.0.2", &[0]),
            ("client host 10.0.0.2", &[]),
            ("host ::ffff:10.0.0.2", &[0]), // mapped (RFC 4291 §2.5.5.2)
            ("server host 10.0.0.2 and server port 443", &[0]),
            ("port 22", &[1]),
            ("client port 22", &[]),
            ("host 2001:db8::2", &[1]),
            ("stream 1", &[1]),
            ("not stream 1", &[0]),
            ("!stream 1", &[0]),
            ("stream 0 or stream 1", &[0, 1]),
            ("stream 0 || stream 1 && port 443", &[0]),
            ("(stream 0 or stream 1) and port 22", &[1]),
            ("not (port 22 or port 443)", &[]),
            ("not not port 443", &[0]),
        ];
        for (text, want) in cases {
            assert_eq!(accepted(text), want, "{text}");
        }
    }

    #[test]
    fn errors_name_the_place_and_the_remedy() {
        let cases = [
            ("", 0, "missing"),
            ("host", 4, "an address is missing"),
            ("host ten", 5, "`ten` is not an address"),
            ("port 99999", 5, "65535"),
            ("stream -1", 7, "from 0"),
            ("src host 10.0.0.1", 0, "client"),
            ("tcp port 80", 0, "every connection"),
            ("host 10.0.0.1 port 80", 14, "one too many"),
            ("(port 80", 8, "`)`"),
            ("port 80 and", 11, "missing"),
            ("client stream 1", 7, "no condition"),
            ("Über", 0, "no condition"),
        ];
        for (text, at, says) in cases {
            let error = text.parse::<ConnectionFilter>().unwrap_err();
            assert_eq!(error.at, at, "{text}: {error}");
            assert!(error.to_string().contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "(".repeat(100_000);
        assert!(deep.parse::<ConnectionFilter>().unwrap_err().to_string().contains("too many"));
        assert!("not ".repeat(100_000).parse::<ConnectionFilter>().is_err());
    }
}
