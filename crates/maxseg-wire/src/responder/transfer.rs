//! Transfers, as they are asked for and begun.

use std::time::Duration;

use super::cursor::Cursor;

/// Where bulk data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Towards {
    /// To the client.
    Client,
    /// To the responder.
    Responder,
}

/// Bulk data to be sent, or received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferRequest {
    /// The transfer's number, which its connections share.
    pub transfer: u32,
    /// The connection's number in it.
    pub connection: u16,
    /// Connections of the transfer.
    pub connections: u16,
    /// Where the data goes.
    pub towards: Towards,
    /// For how long; whoever is the client may end it earlier.
    pub time: Duration,
    /// The window that the responder advertises at most (`TCP_WINDOW_CLAMP`), and its receive buffer; 0 for its kernel's own.
    pub window: u32,
    /// The responder's `SO_SNDBUF`; 0 for its kernel's own.
    pub send_buffer: u32,
    /// The congestion control, filled up with zeros; all zeros for the responder's own.
    pub congestion: [u8; 16],
}

/// A transfer as the responder has begun it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    /// `SO_SNDBUF` as the kernel accounts it.
    pub send_buffer: u32,
    /// `SO_RCVBUF` as the kernel accounts it.
    pub receive_buffer: u32,
    /// `TCP_WINDOW_CLAMP`.
    pub window_clamp: u32,
    /// The congestion control in use, filled up with zeros.
    pub congestion: [u8; 16],
}

impl TransferRequest {
    pub(super) fn put(&self, body: &mut Vec<u8>) {
        body.extend(self.transfer.to_be_bytes());
        body.extend(self.connection.to_be_bytes());
        body.extend(self.connections.to_be_bytes());
        body.push(match self.towards {
            Towards::Client => 0,
            Towards::Responder => 1,
        });
        let millis = u32::try_from(self.time.as_millis()).unwrap_or(u32::MAX);
        for number in [millis, self.window, self.send_buffer] {
            body.extend(number.to_be_bytes());
        }
        body.extend(self.congestion);
    }

    pub(super) fn read(body: &mut Cursor<'_>) -> Option<Self> {
        Some(Self {
            transfer: body.u32()?,
            connection: body.u16()?,
            connections: body.u16()?,
            towards: match body.u8()? {
                0 => Towards::Client,
                1 => Towards::Responder,
                _ => return None,
            },
            time: Duration::from_millis(body.u32()?.into()),
            window: body.u32()?,
            send_buffer: body.u32()?,
            congestion: body.take()?,
        })
    }
}
