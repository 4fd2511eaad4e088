//! What the way back of acknowledgements allows (RFC 3449 §3.1).

/// A path whose two directions differ. Rates in bits per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AckPath {
    /// The slowest link's rate towards the receiver.
    pub forward: f64,
    /// The slowest link's rate back to the sender.
    pub reverse: f64,
    /// A data packet on the wire, in bits.
    pub data: f64,
    /// An acknowledgement on the wire, in bits.
    pub ack: f64,
    /// Payload of a data packet, in bits.
    pub payload: f64,
    /// Segments per acknowledgement, b.
    pub per_ack: f64,
}

/// Payload in bits per second where an acknowledgement takes `ack_seconds` of the way back and stands for
/// `per_ack` segments of `payload` bits.
pub fn payload_limit(ack_seconds: f64, per_ack: f64, payload: f64) -> f64 {
    per_ack * payload / ack_seconds
}

impl AckPath {
    /// The normalised bandwidth ratio k: the ratio of the rates by the ratio of the packet sizes. With
    /// more than one acknowledgement every k data packets the way back is full before the way there.
    pub fn normalised_ratio(&self) -> f64 {
        (self.forward / self.reverse) / (self.data / self.ack)
    }

    /// Whether acknowledgements hold data back: b < k.
    pub fn holds_back(&self) -> bool {
        self.per_ack < self.normalised_ratio()
    }

    /// Acknowledgements that the way back carries in a second.
    pub fn acks_per_second(&self) -> f64 {
        self.reverse / self.ack
    }

    /// Payload in bits per second that these acknowledge.
    pub fn payload_limit(&self) -> f64 {
        payload_limit(self.ack / self.reverse, self.per_ack, self.payload)
    }

    /// The forward link's own limit of payload in bits per second.
    pub fn link_limit(&self) -> f64 {
        self.forward * self.payload / self.data
    }

    /// The rate of the way back below which acknowledgements hold data back, in bits per second.
    pub fn reverse_needed(&self) -> f64 {
        self.forward * self.ack / (self.data * self.per_ack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 3449 §3.1.
    const RFC: AckPath = AckPath {
        forward: 10e6,
        reverse: 50e3,
        data: 8000.0,
        ack: 320.0,
        payload: 7680.0,
        per_ack: 1.0,
    };

    #[test]
    fn the_rfcs_example_has_a_ratio_of_8() {
        assert!((RFC.normalised_ratio() - 8.0).abs() < 1e-12);
        assert!(RFC.holds_back());
        assert!(
            (RFC.payload_limit() * 8.0 - RFC.link_limit()).abs() < 1e-6,
            "an eighth of the link"
        );
        assert!((RFC.reverse_needed() - 400e3).abs() < 1e-6);
    }

    #[test]
    fn one_in_k_acknowledgements_just_fits() {
        let just = AckPath { per_ack: 8.0, ..RFC };
        assert!(!just.holds_back());
        assert!((just.payload_limit() / just.link_limit() - 1.0).abs() < 1e-12);
    }
}
