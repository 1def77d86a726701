/** Bodies in UTF-16 and UTF-32, told by their first octets (RFC 4627 §3, XML 1.0 appendix F.1), as UTF-8. */
import { utf8Text } from '../../octets/utf8.ts';

/** How code units lie in the octets. */
interface Layout {
  readonly width: 2 | 4;
  readonly bigEndian: boolean;
  /** Octets of the byte order mark. */
  readonly mark: number;
}

/** A byte order mark, or where the zero octets lie around a first character of ASCII. Longer ones come first. */
const LAYOUTS: readonly (Layout & { readonly octets: readonly (number | null)[] })[] = [
  { octets: [0xff, 0xfe, 0, 0], width: 4, bigEndian: false, mark: 4 },
  { octets: [0, 0, 0xfe, 0xff], width: 4, bigEndian: true, mark: 4 },
  { octets: [null, 0, 0, 0], width: 4, bigEndian: false, mark: 0 },
  { octets: [0, 0, 0, null], width: 4, bigEndian: true, mark: 0 },
  { octets: [0xff, 0xfe], width: 2, bigEndian: false, mark: 2 },
  { octets: [0xfe, 0xff], width: 2, bigEndian: true, mark: 2 },
  { octets: [null, 0], width: 2, bigEndian: false, mark: 0 },
  { octets: [0, null], width: 2, bigEndian: true, mark: 0 },
];

export interface Utf8Document {
  /** Without byte order mark. */
  readonly text: string;
  /** Whether it came in another encoding form. */
  readonly converted: boolean;
}

/** A document as UTF-8; one that is neither UTF-16 nor UTF-32 keeps its octets, whatever they mean. */
export function toUtf8(text: string): Utf8Document {
  const layout = LAYOUTS.find(({ octets }) => fits(text, octets));
  if (layout !== undefined) return { text: utf8Text(unicodeText(text, layout)), converted: true };
  const marked = text.startsWith('\xef\xbb\xbf');
  return { text: marked ? text.slice(3) : text, converted: false };
}

function fits(text: string, octets: readonly (number | null)[]): boolean {
  return octets.every((octet, at) => {
    const code = text.charCodeAt(at);
    return octet === null ? code > 0 : code === octet;
  });
}

const CHUNK = 4_096;

/** An incomplete unit at the end goes; what is no code point becomes U+FFFD. */
function unicodeText(text: string, layout: Layout): string {
  let out = '';
  let units: number[] = [];
  for (let at = layout.mark; at + layout.width <= text.length; at += layout.width) {
    const unit = unitAt(text, at, layout);
    if (layout.width === 4 && unit > 0xffff) {
      const point = unit <= 0x10ffff ? unit - 0x10000 : -1;
      if (point < 0) units.push(0xfffd);
      else units.push(0xd800 | (point >> 10), 0xdc00 | (point & 0x3ff));
    } else units.push(unit);
    if (units.length < CHUNK) continue;
    out += String.fromCharCode(...units);
    units = [];
  }
  return out + String.fromCharCode(...units);
}

function unitAt(text: string, at: number, { width, bigEndian }: Layout): number {
  let unit = 0;
  for (let index = 0; index < width; index++) {
    unit = unit * 256 + text.charCodeAt(bigEndian ? at + index : at + width - 1 - index);
  }
  return unit;
}
