/** PEM blocks of a text (RFC 7468), found by a scan of one pass. Text between blocks is ignored, as openssl writes it. */

/** A block of a PEM text. */
export interface PemBlock {
  /** Such as `CERTIFICATE`. */
  readonly label: string;
  readonly der: Buffer;
  /** It has headers of RFC 1421 with encryption (`Proc-Type: 4,ENCRYPTED`). */
  readonly isEncrypted: boolean;
}

const BEGIN = '-----BEGIN ';
const DASHES = '-----';
/** Characters of a label: the longest known one has 22. */
const MAX_LABEL = 40;

/** The blocks in their order; `null`: one has no end, or is not Base64. */
export function readPem(text: string): readonly PemBlock[] | null {
  const blocks: PemBlock[] = [];
  for (let at = text.indexOf(BEGIN); at >= 0; ) {
    const labelAt = at + BEGIN.length;
    const labelEnd = text.indexOf(DASHES, labelAt);
    if (labelEnd < 0 || labelEnd - labelAt > MAX_LABEL) return null;
    const label = text.slice(labelAt, labelEnd);
    const bodyAt = labelEnd + DASHES.length;
    const bodyEnd = text.indexOf(`${DASHES}END ${label}${DASHES}`, bodyAt);
    if (bodyEnd < 0) return null;
    const block = readBody(label, text.slice(bodyAt, bodyEnd));
    if (block === null) return null;
    blocks.push(block);
    at = text.indexOf(BEGIN, bodyEnd);
  }
  return blocks;
}

function readBody(label: string, body: string): PemBlock | null {
  const lines = body.split('\n').map((line) => line.trim());
  const headers = lines.filter((line) => line.includes(':'));
  const isEncrypted = label.startsWith('ENCRYPTED') || headers.some((line) => line.includes('ENCRYPTED'));
  const base64 = lines.filter((line) => !line.includes(':')).join('');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null;
  return { label, der: Buffer.from(base64, 'base64'), isEncrypted };
}
