/** Reads the header lines of one part of a multipart body (RFC 7578 §4, RFC 2822 §2.2), as ModSecurity does. */
import { isSpace } from '../../octets/latin1.ts';
import { lowercase } from '../../transformations/lowercase.ts';
import { MAX_PART_HEADER_OCTETS } from './limits.ts';
import { readDisposition } from './multipart-disposition.ts';
import { type BodyMembers, type MultipartFlag, report } from './parsed-body.ts';

/** A part. */
export interface Part {
  /** By name in lower case, the value of the first header of that name. */
  readonly headers: Map<string, string>;
  /** The header lines as sent, malformed ones included, folded ones joined. */
  readonly lines: string[];
  /** The name, as sent, of the header that a folded line continues; `''`: none. */
  current: string;
  /** The place where its data begins; -1: its headers have not ended. */
  dataStart: number;
  /** The name of the form field; `''`: none, or its headers have not ended. */
  name: string;
  /** `''`: it is not a file, or its headers have not ended. */
  filename: string;
}

/** The parts of the parser's state that header lines change. */
export interface PartNotes extends BodyMembers {
  readonly flags: Record<MultipartFlag, number>;
  readonly partNames: string[];
  readonly partFilenames: string[];
}

/** Creates a part without headers. */
export function newPart(): Part {
  return { headers: new Map(), lines: [], current: '', dataStart: -1, name: '', filename: '' };
}

/** Adds a header line; `line` is not empty and has no line end. */
export function addHeaderLine(notes: PartNotes, part: Part, line: string): void {
  if (line.includes('\0')) report(notes, 'a header of a part holds a NUL');
  if (line.length > MAX_PART_HEADER_OCTETS) tooLong(notes);
  if (isSpace(line.charCodeAt(0))) foldLine(notes, part, line);
  else beginHeader(notes, part, line);
}

function tooLong(notes: PartNotes): void {
  report(notes, `a header of a part is longer than ${MAX_PART_HEADER_OCTETS} octets`);
}

/** Joins a folded line to the header before (obsolete line folding, RFC 9112 §5.2). */
function foldLine(notes: PartNotes, part: Part, line: string): void {
  notes.flags.MULTIPART_HEADER_FOLDING = 1;
  let at = 0;
  for (; isSpace(line.charCodeAt(at)); at++) {
    if (line[at] !== ' ' && line[at] !== '\t') notes.flags.MULTIPART_INVALID_HEADER_FOLDING = 1;
  }
  if (part.current === '') {
    report(notes, 'a part has a folded line that continues no header');
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

/** Adds the first line of a header. */
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

/** Whether a name is printable ASCII (RFC 2822 §2.2). */
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

/** Ends the headers of a part: sets its name and filename from its Content-Disposition. */
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
