/** What the parsers of request bodies take and give. All text is Latin-1: one character is one octet. */
import type { WafScalar } from '../../../plan/signature-program.ts';
import { MAX_BODY_ARGUMENTS } from './limits.ts';

export interface BodyInput {
  /** The body, or as much of it as is inspected. */
  readonly text: string;
  /** The request's `Content-Type`, as sent; `''` without one. */
  readonly contentType: string;
  /** The body goes on where the text ends, so that an end inside something is no error. */
  readonly truncated: boolean;
}

export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

export interface UploadedFile {
  /** The form field. */
  readonly name: string;
  readonly filename: string;
  /** Octets. */
  readonly size: number;
}

export type MultipartFlag = Extract<WafScalar, `MULTIPART_${string}`>;

/** By the variable's name: 1 where it holds, else 0; `MULTIPART_UNMATCHED_BOUNDARY` may be 2. */
export type MultipartFlags = Readonly<Record<MultipartFlag, number>>;

export interface ParsedBody {
  /** In the order of the body, duplicates and all. */
  readonly args: readonly NamedValue[];
  readonly files: readonly UploadedFile[];
  /** Header lines of parts, `Content-Type: text/plain`, by the name of the form field. */
  readonly partHeaders: readonly NamedValue[];
  /** Every `name` and `filename` that a part claims, also where it may have but one. */
  readonly partNames: readonly string[];
  readonly partFilenames: readonly string[];
  readonly multipart: MultipartFlags;
  /** All character data of the document, one text; `null`: there is no document. */
  readonly xmlText: string | null;
  readonly xmlAttributes: readonly string[];
  /** What is wrong with the body, `json: …`; what was found stays all the same. */
  readonly error: string | null;
}

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

/** A body that holds nothing. */
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

/** What a parser gathers on its way. */
export interface BodyMembers {
  /** The parser's name, which begins its error. */
  readonly parser: 'urlencoded' | 'multipart' | 'json' | 'xml';
  readonly args: NamedValue[];
  /** The first error. */
  error: string | null;
}

/** Notes an error; the first one is kept, since later ones often follow from it. */
export function report(gathered: BodyMembers, sentence: string): void {
  gathered.error ??= `${gathered.parser}: ${sentence}`;
}

/** Adds to one of the lists, or reports that it is full: then false. */
export function addTo<Item>(gathered: BodyMembers, list: Item[], item: Item): boolean {
  if (list.length >= MAX_BODY_ARGUMENTS) {
    report(gathered, `it holds more than ${MAX_BODY_ARGUMENTS} values; the rest was not inspected`);
    return false;
  }
  list.push(item);
  return true;
}
