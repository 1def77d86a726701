/** One part of a multipart body, and its header lines. */
import { isSpace } from '../../octets/latin1.ts';
import { lowercase } from '../../transformations/lowercase.ts';
import { MAX_PART_HEADER_OCTETS } from './limits.ts';
import { readDisposition } from './multipart-disposition.ts';
import { type BodyMembers, type MultipartFlag, report } from './parsed-body.ts';

export interface Part {
  /** By name in lower case, the first of each. */
  readonly headers: Map<string, string>;
  /** As they stand, also those that are none; folded ones in one. */
  readonly lines: string[];
  /** The name, as it stands, of the header that a folded line goes on; `''`: none. */
  current: string;
  /** Where its data begins; -1: its headers go on. */
  dataStart: number;
  /** `''`: none, or not known yet. */
  name: string;
  filename: string;
}

/** What the lines of a part are noted in. */
export interface PartNotes extends BodyMembers {
  readonly flags: Record<MultipartFlag, number>;
  readonly partNames: string[];
  readonly partFilenames: string[];
}

export function newPart(): Part {
  return { headers: new Map(), lines: [], current: '', dataStart: -1, name: '', filename: '' };
}

/** Takes in a header line, without its line end; it is not empty. */
export function addHeaderLine(notes: PartNotes, part: Part, line: string): void {
  if (line.includes('\0')) report(notes, 'a header of a part holds a NUL');
  if (line.length > MAX_PART_HEADER_OCTETS) tooLong(notes);
  if (isSpace(line.charCodeAt(0))) foldLine(notes, part, line);
  else beginHeader(notes, part, line);
}

function tooLong(notes: PartNotes): void {
  report(notes, `a header of a part is longer than ${MAX_PART_HEADER_OCTETS} octets`);
}

function foldLine(notes: PartNotes, part: Part, line: string): void {
  notes.flags.MULTIPART_HEADER_FOLDING = 1;
  let at = 0;
  for (; isSpace(line.charCodeAt(at)); at++) {
    if (line[at] !== ' ' && line[at] !== '\t') notes.flags.MULTIPART_INVALID_HEADER_FOLDING = 1;
  }
  if (part.current === '') {
    report(notes, 'a part has a folded line that goes on no header');
    part.lines.push(line);
    return;
  }
  const key = lowercase(part.current);
  const value = `${part.headers.get(key) ?? ''} ${line.slice(at)}`;
  if (value.length > MAX_PART_HEADER_OCTETS) {
    tooLong(notes);
    return;
  }
  part.headers.set(key, value);
  part.lines[part.lines.length - 1] = `${part.current}: ${value}`;
}

function beginHeader(notes: PartNotes, part: Part, line: string): void {
  part.current = '';
  part.lines.push(line);
  const colon = line.indexOf(':');
  if (colon <= 0) {
    report(notes, 'a header of a part has no name or no colon');
    return;
  }
  const name = line.slice(0, colon);
  const key = lowercase(name);
  if (!isHeaderName(name)) report(notes, 'the name of a header of a part holds an invalid character');
  else if (part.headers.has(key)) report(notes, 'a part has the same header twice');
  else {
    part.current = name;
    part.headers.set(key, withoutBlanks(line, colon + 1));
  }
}

/** Printable ASCII (RFC 2822 §2.2). */
function isHeaderName(name: string): boolean {
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code < 33 || code > 126) return false;
  }
  return true;
}

function withoutBlanks(line: string, from: number): string {
  let at = from;
  while (line[at] === ' ' || line[at] === '\t') at++;
  return line.slice(at);
}

/** The headers are over: what the part is called, and whether it is a file. */
export function endHeaders(notes: PartNotes, part: Part, dataStart: number): void {
  part.dataStart = dataStart;
  const text = part.headers.get('content-disposition');
  if (text === undefined) {
    report(notes, 'a part has no Content-Disposition');
    return;
  }
  const disposition = readDisposition(text);
  if (disposition.hasInvalidQuoting) notes.flags.MULTIPART_INVALID_QUOTING = 1;
  if (disposition.problem !== null) {
    report(notes, `the Content-Disposition of a part is wrong: ${disposition.problem}`);
  }
  if (disposition.name === '') report(notes, 'the Content-Disposition of a part names no field');
  notes.partNames.push(...disposition.names);
  notes.partFilenames.push(...disposition.filenames);
  part.name = disposition.name;
  part.filename = disposition.filename;
}
