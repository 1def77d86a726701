/**
 * The body parsers, by ModSecurity's names for processors. A parser returns arguments, files, the strictness flags of
 * multipart bodies, text and attributes of XML, and the first error. It never throws, reads its text once, and returns
 * everything found before an error.
 */
import { parseJson } from './json.ts';
import { parseMultipart } from './multipart.ts';
import type { BodyInput, ParsedBody } from './parsed-body.ts';
import { parseUrlEncoded } from './urlencoded.ts';
import { parseXml } from './xml.ts';

/** The values of REQBODY_PROCESSOR. */
export type BodyProcessor = 'URLENCODED' | 'MULTIPART' | 'JSON' | 'XML';

/** By processor, its parser. */
export const BODY_PARSERS: Readonly<Record<BodyProcessor, (input: BodyInput) => ParsedBody>> = {
  URLENCODED: parseUrlEncoded,
  MULTIPART: parseMultipart,
  JSON: parseJson,
  XML: parseXml,
};
