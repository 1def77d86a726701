/**
 * CRC-32 (ISO-HDLC, the polynomial of RFC 1952 §8) over a byte array, eight tables at a time ("slicing-by-8",
 * Kounavis and Berry, 2005): about one gigabyte a second, where the one-table form manages a fifth of it.
 */
const TABLES = buildTables();

function buildTables(): Uint32Array {
  const tables = new Uint32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    tables[byte] = value >>> 0;
  }
  for (let byte = 0; byte < 256; byte++) {
    let value = tables[byte]!;
    for (let table = 1; table < 8; table++) {
      value = tables[value & 0xff]! ^ (value >>> 8);
      tables[table * 256 + byte] = value >>> 0;
    }
  }
  return tables;
}

/** The checksum of `bytes`, an unsigned 32-bit number. */
export function crc32(bytes: Uint8Array): number {
  const t = TABLES;
  const whole = bytes.length - (bytes.length % 8);
  let crc = 0xffffffff;
  let at = 0;
  for (; at < whole; at += 8) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    crc =
      t[1792 + (crc & 0xff)]! ^
      t[1536 + ((crc >>> 8) & 0xff)]! ^
      t[1280 + ((crc >>> 16) & 0xff)]! ^
      t[1024 + (crc >>> 24)]! ^
      t[768 + bytes[at + 4]!]! ^
      t[512 + bytes[at + 5]!]! ^
      t[256 + bytes[at + 6]!]! ^
      t[bytes[at + 7]!]!;
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ t[(crc ^ bytes[at]!) & 0xff]!;
  return (crc ^ 0xffffffff) >>> 0;
}
