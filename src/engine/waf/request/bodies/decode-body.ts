/**
 * Reads a body as applications do, whatever its type says: JSON with comments, several documents in one, GraphQL, any
 * multipart subtype, texts of other charsets, documents inside of values. In: the octets of the body. Out: what the parsers
 * of `body.ts` return, with the further members. Switched on by `ctl:decodeRequestBody`; never throws.
 *
 * Work is bounded (`decoder.ts`): documents are nested a few levels deep, members of all of them together are at most
 * `MAX_BODY_ARGUMENTS` of a kind, and converted copies together at most a multiple of the body.
 */
import { BODY_PARSERS, type BodyProcessor, parseUrlEncoded } from './body.ts';
import { changesAscii, fromCharset, xmlEncoding } from './charsets.ts';
import {
  addArgument,
  addXml,
  charsetsOf,
  type Decoder,
  isConvertible,
  nest,
  newDecoder,
  readingsOf,
  spend,
  spendRead,
} from './decoder.ts';
import { parseGraphql } from './graphql.ts';
import { parseJson } from './json.ts';
import {
  type BodyLanguage,
  isText,
  languageOf,
  type MediaType,
  parameterValues,
  readMediaType,
  sniffed,
  sniffedBoundary,
  withBoundaryOnly,
} from './media-types.ts';
import { type MultipartPart, splitMultipart } from './multipart-split.ts';
import { addTo, type BodyInput, EMPTY_BODY, type ParsedBody, report, toUtf8 } from './parsed-body.ts';
import { unsplit } from './readings.ts';
import { parseXml } from './xml.ts';

/** A body that was read. */
export interface DecodingResult {
  readonly parsed: ParsedBody;
  /** The processor of the language that it is in; `null`: none. */
  readonly processor: BodyProcessor | null;
  /** Octets of all texts that parsers have read, for the meter. */
  readonly read: number;
}

/** By language, its processor. */
const PROCESSORS = {
  form: 'URLENCODED',
  graphql: null,
  json: 'JSON',
  multipart: 'MULTIPART',
  xml: 'XML',
} as const satisfies Record<BodyLanguage, BodyProcessor | null>;

const LANGUAGES = {
  URLENCODED: 'form',
  JSON: 'json',
  MULTIPART: 'multipart',
  XML: 'xml',
} as const satisfies Record<BodyProcessor, BodyLanguage>;

/** A body in the language that it is read in. */
interface Document {
  readonly input: BodyInput;
  readonly media: MediaType;
  /** Charsets of the type that change texts. */
  readonly charsets: readonly string[];
  /** Whether its type or a rule states the language; if not, a text that does not parse is no error. */
  readonly isStated: boolean;
}

/** Reads a body; `processor` is what rules chose for it. */
export function decodeBody(input: BodyInput, processor: BodyProcessor | null): DecodingResult {
  const decoder = newDecoder(input.text.length, input.truncated);
  const media = readMediaType(input.contentType);
  const stated = languageOf(media.type) ?? (processor === null ? null : LANGUAGES[processor]);
  const language = stated ?? guessed(input.text);
  if (language === null) return { parsed: EMPTY_BODY, processor: null, read: 0 };
  // JSON has to be UTF-8; elsewhere an ASCII-based charset changes nothing that signatures search for.
  const labels = charsetsOf(decoder, media);
  const charsets = language === 'json' ? labels : labels.filter(changesAscii);
  const main = READERS[language](decoder, { input, media, charsets, isStated: stated !== null });
  const { args, files, xmlParts, xmlAttributes, read } = decoder;
  const isFound = stated !== null || args.length > 0 || files.length > 0 || main.xmlText !== null;
  return {
    parsed: { ...main, args, files, xmlParts, xmlAttributes, error: main.error ?? decoder.error },
    processor: isFound ? PROCESSORS[language] : null,
    read,
  };
}

/** The language of a body without a known type; `null`: it is binary, or text of no known language. */
function guessed(octets: string): BodyLanguage | null {
  const { text } = toUtf8(octets);
  const language = sniffed(text);
  // Anything is a form; JSON and XML have to parse.
  return language !== 'form' || isText(text) ? language : null;
}

/** By language, reads a body: adds its members to the decoder, and returns what else a parser found. */
const READERS: Readonly<Record<BodyLanguage, (decoder: Decoder, document: Document) => ParsedBody>> = {
  form: readForm,
  graphql: readGraphql,
  json: readJson,
  multipart: readMultipart,
  xml: readXml,
};

/** Reads a form, and a document that was sent as one or as plain text. */
function readForm(decoder: Decoder, { input, media, charsets }: Document): ParsedBody {
  for (const text of readingsOf(decoder, input.text, charsets)) {
    if (!spendRead(decoder, text.length)) break;
    const { args, error } = parseUrlEncoded({ text });
    if (error !== null) decoder.error ??= error;
    for (const argument of args) {
      addArgument(decoder, argument, 0);
      // ASP.NET undoes percent-encoding first and the charset second.
      if (text === input.text) for (const label of charsets) addConverted(decoder, argument, label);
    }
    const rest = unsplit(text, args);
    if (rest !== null) addTo(decoder, decoder.args, rest);
    nest(decoder, { name: '', value: text }, 0);
  }
  const isForm = languageOf(media.type) === 'form';
  if (!isForm && sniffed(input.text) === 'multipart') {
    addParts(decoder, input.text, { boundaries: [sniffedBoundary(input.text)], ...WHOLE });
  }
  return EMPTY_BODY;
}

function addConverted(
  decoder: Decoder,
  argument: { readonly name: string; readonly value: string },
  label: string,
): void {
  if (decoder.copies < 0) return;
  const name = fromCharset(argument.name, label) ?? '';
  const value = fromCharset(argument.value, label) ?? '';
  if (name === argument.name && value === argument.value) return;
  if (spend(decoder, name.length + value.length)) addArgument(decoder, { name, value }, 0);
}

function readGraphql(decoder: Decoder, { input, charsets }: Document): ParsedBody {
  for (const text of readingsOf(decoder, input.text, charsets)) {
    if (!spendRead(decoder, text.length)) break;
    const { args, error } = parseGraphql({ ...input, text });
    if (error !== null) decoder.error ??= error;
    for (const argument of args) addTo(decoder, decoder.args, argument);
    // Some clients send the JSON of GraphQL over HTTP with this type.
    nest(decoder, { name: '', value: text }, 0);
  }
  return EMPTY_BODY;
}

function readJson(decoder: Decoder, { input, charsets, isStated }: Document): ParsedBody {
  const { names } = decoder;
  const all = readingsOf(decoder, input.text, charsets).map((text) => {
    spendRead(decoder, text.length);
    return parseJson({ ...input, text }, { relaxed: true, isNested: !isStated, root: 'json', names });
  });
  for (const { args } of readable(decoder, all, isStated)) {
    for (const argument of args) addArgument(decoder, argument, 0);
  }
  return EMPTY_BODY;
}

function readXml(decoder: Decoder, { input, charsets, isStated }: Document): ParsedBody {
  const encoding = xmlEncoding(input.text);
  const isFollowed = encoding !== null && isConvertible(decoder, encoding) && changesAscii(encoding);
  const labels = isFollowed ? [...charsets, encoding] : charsets;
  const all = readingsOf(decoder, input.text, labels).map((text) => {
    spendRead(decoder, text.length);
    return parseXml({ ...input, text }, { expands: true, anyEncoding: true });
  });
  const [first = EMPTY_BODY, ...others] = readable(decoder, all, isStated);
  for (const { xmlText } of others) if (xmlText !== null) addTo(decoder, decoder.xmlParts, xmlText);
  for (const parsed of [first, ...others]) addXml(decoder, parsed, { name: '', level: 0 });
  return { ...first, error: null };
}

/**
 * Of several readings of one text, those without an error; without any, the first with its error, or none where the
 * language was only guessed.
 */
function readable(decoder: Decoder, all: readonly ParsedBody[], isStated: boolean): readonly ParsedBody[] {
  const valid = all.filter(({ error }) => error === null);
  if (valid.length > 0 || !isStated) return valid;
  decoder.error ??= all[0]!.error;
  return all.slice(0, 1);
}

// Multipart bodies: `body.ts` reads a form and judges it; this adds what a tolerant application finds besides.

function readMultipart(decoder: Decoder, { input, media, charsets }: Document): ParsedBody {
  const { text } = input;
  spendRead(decoder, text.length);
  const isForm = media.type === 'multipart/form-data';
  const main = isForm
    ? BODY_PARSERS.MULTIPART({
        ...input,
        contentType: withBoundaryOnly(input.contentType),
        acceptsExtendedNames: true,
      })
    : EMPTY_BODY;
  for (const argument of main.args) addArgument(decoder, argument, 0);
  decoder.files.push(...main.files);
  const named = parameterValues(media, 'boundary');
  const boundaries = named.length > 0 ? named : [sniffedBoundary(text)];
  const found = addParts(decoder, text, { boundaries, prefix: '', level: 0, charsets, isAdded: isForm });
  if (!isForm && found === 0 && !input.truncated) report(decoder, 'no part of it was found');
  return main;
}

/** How parts are read. */
interface PartReading {
  /** What the names of their members begin with. */
  readonly prefix: string;
  /** The multipart texts and documents around them. */
  readonly level: number;
  /** Charsets of the whole. */
  readonly charsets: readonly string[];
  /** Whether fields as sent, by their first name, are added already. */
  readonly isAdded: boolean;
}

const WHOLE: PartReading = { prefix: '', level: 0, charsets: [], isAdded: false };

/** Adds the parts by each boundary; returns their number. */
function addParts(
  decoder: Decoder,
  text: string,
  { boundaries, ...how }: PartReading & { readonly boundaries: readonly string[] },
): number {
  let count = 0;
  for (const [at, boundary] of boundaries.entries()) {
    if (boundary === '' || !spendRead(decoder, text.length)) continue;
    const isAdded = how.isAdded && at === 0;
    for (const part of splitMultipart(text, boundary)) {
      const names = part.names.length > 0 ? part.names.slice(0, MAX_PART_NAMES) : [`part_${count}`];
      for (const name of names) addPartAs(decoder, part, { ...how, isAdded, prefix: `${how.prefix}${name}` });
      count++;
    }
  }
  return count;
}

/** Names of one part that are read: applications take the first or the last. */
const MAX_PART_NAMES = 3;

/** Adds a part under a name, which is `prefix`. */
function addPartAs(decoder: Decoder, part: MultipartPart, how: PartReading): void {
  const { data, filenames, isField, isDecoded } = part;
  const { prefix: name, level } = how;
  const media = readMediaType(part.contentType);
  const language = media.type === 'image/svg+xml' ? null : languageOf(media.type);
  if (isDecoded && !spend(decoder, data.length)) return;
  if (language === 'multipart' && addInner(decoder, data, { ...how, media })) return;
  if (filenames.length > 0) {
    if (!how.isAdded) addTo(decoder, decoder.files, { name, filename: filenames[0]!, size: data.length });
    if (!isField && language !== 'json' && language !== 'xml') return;
  }
  const isTyped = media.type !== '' && !media.type.startsWith('text/');
  const isBinary = language === null && isTyped && !isText(data);
  const labels = [...how.charsets, ...charsetsOf(decoder, media).filter(changesAscii)];
  for (const value of readingsOf(decoder, data, labels)) {
    const isFile = filenames.length > 0;
    const isKnown = how.isAdded && !isFile && !isDecoded && value === data && part.names[0] === name;
    if (!isField || isBinary) nest(decoder, { name, value }, level);
    else if (!isKnown) addArgument(decoder, { name, value }, level);
    if (language === 'form') {
      for (const one of parseUrlEncoded({ text: value }).args) {
        addArgument(decoder, { name: `${name}.${one.name}`, value: one.value }, level + 1);
      }
    }
  }
}

/** Multipart texts inside of parts of multipart texts. */
const MAX_MULTIPART_LEVELS = 3;

/** Adds the parts of a part that is multipart; `false`: it has none, so that it is inspected as text. */
function addInner(
  decoder: Decoder,
  data: string,
  { media, ...how }: PartReading & { readonly media: MediaType },
): boolean {
  if (how.level >= MAX_MULTIPART_LEVELS) {
    report(decoder, `parts are nested more than ${MAX_MULTIPART_LEVELS} deep; the rest was not inspected`);
    return false;
  }
  const boundaries = parameterValues(media, 'boundary');
  const inner = { prefix: `${how.prefix}.`, level: how.level + 1, charsets: how.charsets, isAdded: false };
  return addParts(decoder, data, { ...inner, boundaries }) > 0;
}
