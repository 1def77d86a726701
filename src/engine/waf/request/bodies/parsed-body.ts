/** Input and output of the body parsers. All text is Latin-1: one character is one octet. */
import type { WafScalar } from '../../../plan/signature-program.ts';
import type { NamedValue } from '../named-value.ts';
import { MAX_BODY_ARGUMENTS } from './limits.ts';

/** The input of a parser. */
export interface BodyInput {
  /** The inspected octets of the body. */
  readonly text: string;
  /** The request's `Content-Type`, as sent; `''` without one. */
  readonly contentType: string;
  /** Whether the body continues after the text, so that an unexpected end is not an error. */
  readonly truncated: boolean;
}

/** A part of a multipart body with a filename. */
export interface UploadedFile {
  /** The form field. */
  readonly name: string;
  readonly filename: string;
  /** Octets. */
  readonly size: number;
}

/** A flag of ModSecurity about a multipart body, by its variable's name. */
export type MultipartFlag = Extract<WafScalar, `MULTIPART_${string}`>;

/** By variable, 1 if the flag is set, else 0; `MULTIPART_UNMATCHED_BOUNDARY` can be 2. */
export type MultipartFlags = Readonly<Record<MultipartFlag, number>>;

/** The output of a parser. */
export interface ParsedBody {
  /** In the order of the body, duplicates included. */
  readonly args: readonly NamedValue[];
  readonly files: readonly UploadedFile[];
  /** Header lines of parts, `Content-Type: text/plain`, by the name of the form field. */
  readonly partHeaders: readonly NamedValue[];
  /** Every `name` of every part, also the second of a part, which is an error. */
  readonly partNames: readonly string[];
  /** Every `filename` of every part, likewise. */
  readonly partFilenames: readonly string[];
  readonly multipart: MultipartFlags;
  /** All character data of the document as one text; `null`: there is no document. */
  readonly xmlText: string | null;
  readonly xmlAttributes: readonly string[];
  /** The first error, after the parser's name (`json: …`); `null`: none. Members found are returned in any case. */
  readonly error: string | null;
}

/** All flags unset. */
export const NO_MULTIPART_FLAGS: MultipartFlags = {
  MULTIPART_BOUNDARY_QUOTED: 0,
  MULTIPART_BOUNDARY_WHITESPACE: 0,
  MULTIPART_CRLF_LF_LINES: 0,
  MULTIPART_DATA_AFTER: 0,
  MULTIPART_DATA_BEFORE: 0,
  MULTIPART_FILE_LIMIT_EXCEEDED: 0,
  MULTIPART_HEADER_FOLDING: 0,
  MULTIPART_INVALID_HEADER_FOLDING: 0,
  MULTIPART_INVALID_PART: 0,
  MULTIPART_INVALID_QUOTING: 0,
  MULTIPART_LF_LINE: 0,
  MULTIPART_MISSING_SEMICOLON: 0,
  MULTIPART_STRICT_ERROR: 0,
  MULTIPART_UNMATCHED_BOUNDARY: 0,
};

/** The output for a body without members. */
export const EMPTY_BODY: ParsedBody = {
  args: [],
  files: [],
  partHeaders: [],
  partNames: [],
  partFilenames: [],
  multipart: NO_MULTIPART_FLAGS,
  xmlText: null,
  xmlAttributes: [],
  error: null,
};

/** The part of a parser's state that all parsers share. */
export interface BodyMembers {
  /** The parser's name, the prefix of its error. */
  readonly parser: 'urlencoded' | 'multipart' | 'json' | 'xml';
  readonly args: NamedValue[];
  /** The first error. */
  error: string | null;
}

/** Records an error, unless there is one already: later errors often follow from the first. */
export function report(gathered: BodyMembers, sentence: string): void {
  gathered.error ??= `${gathered.parser}: ${sentence}`;
}

/** Adds an item to a list; `false`: the list is full, which is reported as an error. */
export function addTo<Item>(gathered: BodyMembers, list: Item[], item: Item): boolean {
  if (list.length >= MAX_BODY_ARGUMENTS) {
    report(gathered, `it holds more than ${MAX_BODY_ARGUMENTS} values; the rest was not inspected`);
    return false;
  }
  list.push(item);
  return true;
}
