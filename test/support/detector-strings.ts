/** The strings of `fixtures/detectors`: one a line, under headings that begin with `== `. */
import { readFileSync } from 'node:fs';

export interface DetectorString {
  readonly heading: string;
  /** Latin-1: a character is an octet. */
  readonly value: string;
}

const FOLDER = new URL('../../fixtures/detectors/', import.meta.url);
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\\': '\\' };

/** Reads one file; `\xHH`, `\n`, `\r`, `\t` and `\\` stand for what cannot be written on a line. */
export function detectorStrings(file: 'sqli' | 'xss' | 'ordinary'): readonly DetectorString[] {
  const strings: DetectorString[] = [];
  let heading = '';
  for (const line of readFileSync(new URL(`${file}.txt`, FOLDER), 'latin1').split('\n')) {
    if (line.startsWith('== ')) heading = line.slice(3);
    else if (line !== '') strings.push({ heading, value: unescaped(line) });
  }
  return strings;
}

function unescaped(line: string): string {
  return line.replace(/\\(?:x([0-9a-f]{2})|([nrt\\]))/g, (_, hex: string | undefined, letter: string) =>
    hex === undefined ? ESCAPES[letter]! : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
