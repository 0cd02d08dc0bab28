//! Small bodies that decode to large ones, made by hand: no encoder makes a gigabyte in a moment.

/// A gzip member (RFC 1952) of at least so many zero bytes, in fixed Huffman codes (RFC 1951
/// section 3.2.6): a literal zero, then copies of 258 bytes from one byte back, at 13 bits each.
pub(crate) fn gzip_of_zeros(bytes: usize) -> Vec<u8> {
    let mut deflated = Bits::default();
    // The last block, of fixed codes.
    deflated.put(0b1, 1);
    deflated.put(0b01, 2);
    // Codes stand in reverse order of bits: literal 0 is 00110000.
    deflated.put(0b0000_1100, 8);
    for _ in 0..bytes / 258 {
        // Length 258 is code 285, 11000101; distance 1 is code 0, 00000.
        deflated.put(0b1010_0011, 8);
        deflated.put(0, 5);
    }
    // The end of the block is code 256, 0000000.
    deflated.put(0, 7);
    gzip(&deflated.finish())
}

/// A gzip member of these bytes as they are.
pub(crate) fn gzip_stored(bytes: &[u8]) -> Vec<u8> {
    let mut blocks = Vec::new();
    let mut chunks = bytes.chunks(0xffff).peekable();
    while let Some(chunk) = chunks.next() {
        let length = u16::try_from(chunk.len()).unwrap();
        blocks.push(u8::from(chunks.peek().is_none()));
        blocks.extend(length.to_le_bytes());
        blocks.extend((!length).to_le_bytes());
        blocks.extend(chunk);
    }
    gzip(&blocks)
}

/// A zstd frame (RFC 8878 section 3.1.1) of so many blocks of 128 KiB, each one byte repeated:
/// 32,768 to 1.
pub(crate) fn zstd_of_runs(blocks: usize) -> Vec<u8> {
    // The window is of 128 KiB: exponent 7, mantissa 0.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 7 << 3];
    for left in (0..blocks).rev() {
        let header: u32 = u32::from(left == 0) | 1 << 1 | (128 << 10) << 3;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(b'x');
    }
    frame
}

/// A header, the deflated data, and a check that nobody lives to see.
fn gzip(deflated: &[u8]) -> Vec<u8> {
    let mut member = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    member.extend(deflated);
    member.extend([0; 8]);
    member
}

/// Bits, the first of a byte lowest.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    open: u32,
    count: u32,
}

impl Bits {
    fn put(&mut self, bits: u32, count: u32) {
        self.open |= bits << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(u8::try_from(self.open & 0xff).unwrap());
            self.open >>= 8;
            self.count -= 8;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.put(0, 7);
        self.bytes
    }
}
