/** Finds where the octets of a file stop being UTF-8 text, and builds the diagnostic for it. */
import type { Diagnostic, SourcePlace } from '../../base/diagnostics/diagnostic.ts';

/**
 * The diagnostic for octets that are not UTF-8, or that contain a zero octet, which YAML does not allow. UTF-16 is
 * recognised by its byte order mark, or by zeros in every second octet of the first four.
 */
export function notText(bytes: Uint8Array, at: SourcePlace): Diagnostic {
  const [first, second] = bytes;
  const hasMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const utf16 =
    hasMark ||
    (bytes.length >= 4 && (bytes[0] === 0) !== (bytes[1] === 0) && (bytes[2] === 0) !== (bytes[3] === 0));
  return {
    code: 'invalid_utf8',
    severity: 'error',
    path: [],
    message: utf16
      ? 'must be UTF-8 text; this looks like UTF-16'
      : 'must be UTF-8 text; these octets are not',
    remedy: 'save the file as UTF-8',
    at,
  };
}

/** The place of an octet in UTF-8 text; the column counts UTF-16 units. */
export function placeOfOctet(
  bytes: Uint8Array,
  { octet, file }: { octet: number; file: string },
): SourcePlace {
  let line = 1;
  let start = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0 && at < octet; at = bytes.indexOf(0x0a, at + 1)) {
    line++;
    start = at + 1;
  }
  return { file, line, column: new TextDecoder().decode(bytes.subarray(start, octet)).length + 1 };
}

/**
 * The first place that is not UTF-8. Decodes line by line, since a newline octet is never part of a longer
 * character.
 */
export function placeOfBadOctet(bytes: Uint8Array, file: string): SourcePlace {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    const column = validStart(bytes.subarray(start, end));
    if (column !== null) return { file, line, column };
    start = end;
  }
  return { file, line, column: 1 };
}

/**
 * The column at which a line stops being UTF-8; `null` for a valid line. A binary search over the length of the
 * valid start.
 */
function validStart(line: Uint8Array): number | null {
  const decodes = (length: number): string | null => {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(line.subarray(0, length), { stream: true });
    } catch {
      // `decode` with `fatal` throws for invalid octets only.
      return null;
    }
  };
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(line);
    return null;
  } catch {
    let valid = 0;
    let broken = line.length + 1;
    while (broken - valid > 1) {
      const middle = (valid + broken) >> 1;
      if (middle <= line.length && decodes(middle) !== null) valid = middle;
      else broken = middle;
    }
    return (decodes(valid) ?? '').length + 1;
  }
}
