/**
 * Reads a request body by its processor: arguments, files, what the strictness flags say, XML's text and attributes,
 * and what is wrong with it. A parser never throws, reads its text once, and keeps what it found before an error.
 */
import { parseJson } from './json.ts';
import { parseMultipart } from './multipart.ts';
import type { BodyInput, ParsedBody } from './parsed-body.ts';
import { parseUrlEncoded } from './urlencoded.ts';
import { parseXml } from './xml.ts';

/** The values of REQBODY_PROCESSOR. */
export type BodyProcessor = 'URLENCODED' | 'MULTIPART' | 'JSON' | 'XML';

export const BODY_PARSERS: Readonly<Record<BodyProcessor, (input: BodyInput) => ParsedBody>> = {
  URLENCODED: parseUrlEncoded,
  MULTIPART: parseMultipart,
  JSON: parseJson,
  XML: parseXml,
};
