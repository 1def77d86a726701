/** Converts bodies in UTF-16 and UTF-32, recognised by their first octets (RFC 4627 §3, XML 1.0 appendix F.1), to UTF-8. */
import { utf8Text } from '../../octets/utf8.ts';

/** An encoding form: how code units are stored in octets. */
interface Layout {
  /** Octets of a code unit. */
  readonly width: 2 | 4;
  readonly bigEndian: boolean;
  /** Octets of the byte order mark. */
  readonly mark: number;
}

/** By its first octets (`null`: any but zero): a byte order mark, or a first character of ASCII. Longer ones first. */
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

/** A body in UTF-8. */
export interface Utf8Document {
  /** Without byte order mark. */
  readonly text: string;
  /** Whether it was UTF-16 or UTF-32. */
  readonly converted: boolean;
}

/** Converts a body to UTF-8; returns the octets of one that is neither UTF-16 nor UTF-32 unchanged. */
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

/** Code units in one `fromCharCode`: its arguments go over the stack. */
const CHUNK = 4_096;

/** Decodes the code units; drops an incomplete one at the end; replaces invalid code points by U+FFFD. */
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

/** The code unit at `at`. */
function unitAt(text: string, at: number, { width, bigEndian }: Layout): number {
  let unit = 0;
  for (let index = 0; index < width; index++) {
    unit = unit * 256 + text.charCodeAt(bigEndian ? at + index : at + width - 1 - index);
  }
  return unit;
}
