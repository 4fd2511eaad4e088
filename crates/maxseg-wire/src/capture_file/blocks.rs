//! Records of pcapng files, and the blocks between packets.

use std::borrow::Cow;
use std::io::Read;

use super::{
    CaptureFile, Fault, InterfaceInfo, MOST_COMMENTS, MOST_INTERFACES, MOST_TEXT, RecordLocation,
    Records, at_least, buffered_record,
};
use crate::pcapng::{Block, BlockHead};

impl<R: Read> CaptureFile<R> {
    /// Reads blocks up to and including the next packet.
    #[inline]
    pub(super) fn pcapng_record(&mut self) -> Result<Option<RecordLocation>, Fault> {
        loop {
            let have = self.buffer.demand(BlockHead::LEN)?;
            if have == 0 {
                return Ok(None);
            }
            let Records::Pcapng { state, base, .. } = &self.records else { return Ok(None) };
            let head = *self.buffer.peek().ok_or(Fault::Cut { have, need: BlockHead::LEN })?;
            let head = state.head(head)?;
            if !head.is_packet() {
                self.other_block(&head)?;
                continue;
            }
            let block = buffered_record(&mut self.buffer, head.length)?;
            let (packet, data) = state.packet(&head, head.body(block)?)?;
            let captured = data.len();
            let number = base + packet.interface as usize;
            let interface = self.interfaces.get(number).ok_or(Fault::Interfaces)?;
            let range = self.buffer.advance(head.length).part(head.data_offset(), captured);
            return Ok(Some(RecordLocation {
                interface: u32::try_from(number).unwrap_or(u32::MAX),
                at_nanos: packet.at_nanos,
                original_len: at_least(packet.original_len, captured),
                link_type: interface.link_type,
                range,
            }));
        }
    }

    /// Skips a block of an unknown type, whatever its length.
    fn pass_over(&mut self, head: &BlockHead) -> Result<(), Fault> {
        self.skipped_from = Some(self.buffer.offset());
        let missing = self.buffer.skip(head.length - BlockHead::FOOT_LEN)?;
        let missing = missing + BlockHead::FOOT_LEN;
        let there = self.buffer.demand(BlockHead::FOOT_LEN)?;
        let have = head.length - missing + there.min(BlockHead::FOOT_LEN);
        let foot = *self.buffer.peek().ok_or(Fault::Cut { have, need: head.length })?;
        head.check_foot(foot)?;
        self.buffer.advance(BlockHead::FOOT_LEN);
        self.skipped_from = None;
        Ok(())
    }

    /// Reads a block other than a packet.
    fn other_block(&mut self, head: &BlockHead) -> Result<(), Fault> {
        if !head.is_known() {
            return self.pass_over(head);
        }
        let block = buffered_record(&mut self.buffer, head.length)?;
        let Records::Pcapng { state, base, section: count } = &mut self.records else {
            return Ok(());
        };
        match state.block(head, head.body(block)?)? {
            Block::Section(section) => {
                *base = self.interfaces.len();
                *count = count.saturating_add(1);
                if let Some(application) = section.application {
                    self.application = Some(application.into_owned());
                }
                let comment = section.comment.filter(|_| self.comments.len() < MOST_COMMENTS);
                self.comments.extend(comment.map(Cow::into_owned));
            }
            Block::Interface(interface) => {
                if self.interfaces.len() == MOST_INTERFACES {
                    return Err(Fault::Interfaces);
                }
                let number = self.interfaces.len().saturating_sub(*base);
                self.interfaces.push(InterfaceInfo {
                    section: *count,
                    number_in_section: u32::try_from(number).unwrap_or(u32::MAX),
                    name: interface.name.map(|name| beginning(&name)),
                    description: interface.description.map(|text| beginning(&text)),
                    link_type: interface.link_type,
                    snap_len: interface.snap_len,
                    received: None,
                    dropped: None,
                });
            }
            Block::Statistics(statistics) => {
                let number = *base + statistics.interface as usize;
                if let Some(interface) = self.interfaces.get_mut(number) {
                    interface.received = statistics.received.or(interface.received);
                    interface.dropped = statistics.dropped.or(interface.dropped);
                }
            }
            Block::Packet(_) | Block::SimplePacket(_) | Block::Other(_) => {}
        }
        self.buffer.advance(head.length);
        Ok(())
    }
}

/// The first [`MOST_TEXT`] bytes of a text, cut between characters.
fn beginning(text: &str) -> String {
    text.char_indices().take_while(|(at, _)| *at < MOST_TEXT).map(|(_, c)| c).collect()
}
