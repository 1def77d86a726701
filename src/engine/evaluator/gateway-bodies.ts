/**
 * Bodies of requests that a gateway admits (semantics §15): their media type, their size, and their value by the schema of the
 * operation. In: an operation, the request with the octets of its body. Out: what is wrong, or nothing.
 */
import type { BodyError } from '../../base/json-schema/comparison.ts';
import { readValue } from '../../base/json-schema/read-value.ts';
import { openProgram, type Validator } from '../../base/json-schema/validate.ts';
import { dfaMatches } from '../../base/regex/table.ts';
import { VALIDATION_MODES, type ValidationMode } from '../../base/vocabulary/vocabulary.ts';
import { BODY, BODY_CONTENT, NONE, OPERATION_SETTING, PATTERN, VALIDATION } from '../plan/layout.ts';
import { type Facts, headerOf } from './facts.ts';
import { type LoadedPlan, textOf } from './loaded.ts';
import { announcesBody, bodyOf } from './request.ts';

/** How a gateway compares bodies. */
export interface LoadedValidation {
  /** By the index of the operation; `null`: any body. */
  readonly bodies: readonly (LoadedBody | null)[];
}

/** What becomes of bodies that are not valid, or not read. */
interface Modes {
  readonly invalid: ValidationMode;
  readonly uninspected: ValidationMode;
  /** Octets. */
  readonly cap: number;
}

/** The body of an operation. */
export interface LoadedBody extends Modes {
  readonly required: boolean;
  readonly content: readonly LoadedContent[];
}

interface LoadedContent {
  /** In lower case, such as `application/json` or `text/*`. */
  readonly type: string;
  /** Opens the schema at the first call; `null`: every value is valid. */
  readonly validator: (() => Validator) | null;
}

/** The validation at an offset in `words`, of `count` operations, whose settings are at another one or NONE. */
export function loadValidation(
  loaded: LoadedPlan,
  { at, settings, count }: { readonly at: number; readonly settings: number; readonly count: number },
): LoadedValidation {
  const { words } = loaded.plan;
  const bodies = words[at + VALIDATION.bodies]!;
  const common = modesAt(loaded, at);
  const modesOf = (index: number): Modes => {
    const own =
      settings === NONE
        ? NONE
        : words[settings + index * OPERATION_SETTING.size + OPERATION_SETTING.validation]!;
    return own === NONE ? common : modesAt(loaded, own);
  };
  return {
    bodies: Array.from({ length: count }, (_, index) =>
      bodyAt(loaded, words[bodies + index]!, modesOf(index)),
    ),
  };
}

function modesAt({ plan: { words } }: LoadedPlan, at: number): Modes {
  return {
    invalid: VALIDATION_MODES[words[at + VALIDATION.invalid]!]!,
    uninspected: VALIDATION_MODES[words[at + VALIDATION.uninspected]!]!,
    cap: words[at + VALIDATION.cap]! * 1024,
  };
}

function bodyAt(loaded: LoadedPlan, at: number, modes: Modes): LoadedBody | null {
  if (at === NONE) return null;
  const { words } = loaded.plan;
  const content = Array.from({ length: words[at + BODY.count]! }, (_, index) => {
    const row = at + BODY.content + index * BODY_CONTENT.size;
    const schema = words[row + BODY_CONTENT.schema]!;
    return {
      type: textOf(loaded, words[row + BODY_CONTENT.type]!),
      validator: schema === 0 ? null : lazyValidator(loaded, schema),
    };
  });
  return { ...modes, required: words[at + BODY.required] === 1, content };
}

function lazyValidator(loaded: LoadedPlan, schema: number): () => Validator {
  let validator: Validator | null = null;
  return () => {
    validator ??= openProgram(JSON.parse(textOf(loaded, schema)), (pattern, text) => {
      const { dfas, patterns } = loaded.plan;
      return dfaMatches(dfas, patterns[pattern * PATTERN.size + PATTERN.data]!, text);
    });
    return validator;
  };
}

/** What is wrong with a body. */
export interface BodyFinding {
  readonly reason: 'content_type' | 'body_too_large' | 'body_uninspected' | 'body_invalid';
  /** The request is refused, not forwarded with the reason in the log. */
  readonly blocks: boolean;
  /** Of `body_invalid`: where. */
  readonly errors: readonly BodyError[];
  /** Of `content_type`: the types of the operation. */
  readonly types: readonly string[];
}

/** Octets that the gateway reads of the body of an operation: one more than it compares, so that a longer one is seen. */
export function octetsWanted({ invalid, cap }: LoadedBody): number {
  return invalid === 'pass' ? 0 : cap + 1;
}

/** Compares the body of a request; `null`: nothing is wrong, or nobody asks. */
export function findingOf(
  { invalid, uninspected, cap, required, content }: LoadedBody,
  { request }: Facts,
): BodyFinding | null {
  if (invalid === 'pass') return null;
  const refuse = (
    errors: readonly BodyError[],
    reason: BodyFinding['reason'] = 'body_invalid',
  ): BodyFinding => ({
    reason,
    blocks: invalid === 'block',
    errors,
    types: reason === 'content_type' ? content.map(({ type }) => type) : [],
  });
  const leave = (reason: 'body_too_large' | 'body_uninspected'): BodyFinding | null =>
    uninspected === 'pass' ? null : { reason, blocks: uninspected === 'block', errors: [], types: [] };
  const body = bodyOf(request);
  if (body === null || (body.length === 0 && isWhole(request))) {
    // A proxy that passes no bodies on gives `null`, which is no mistake of the client.
    const isUnseen = body === null && (announcesBody(request.headers) || request.bodyTruncated === true);
    return required && !isUnseen ? refuse([{ pointer: '#', detail: 'is missing' }]) : null;
  }
  const found = contentOf(content, headerOf(request, 'content-type'));
  if (found === null) return refuse([], 'content_type');
  if (body === 'unread' || typeof request.bodyError === 'string') return leave('body_uninspected');
  if (body.length > cap || request.bodyTruncated === true) return leave('body_too_large');
  if (found.validator === null) return null;
  const read = readValue(body);
  if (!read.ok)
    return read.isBeyond ? leave('body_uninspected') : refuse([{ pointer: '#', detail: read.detail }]);
  const errors = found.validator()(read.value, body.length);
  if (errors === null) return leave('body_uninspected');
  return errors.length > 0 ? refuse(errors) : null;
}

/** Whether the octets of the body are all of it, decoded. */
function isWhole({ bodyError, bodyTruncated }: Facts['request']): boolean {
  return bodyTruncated !== true && typeof bodyError !== 'string';
}

/** A media type with its parameters (RFC 9110 §8.3.1). */
const MEDIA_TYPE = /^([a-z0-9!#$%&'*+.^_`|~-]+\/[a-z0-9!#$%&'*+.^_`|~-]+)[ \t]*(;.*)?$/;
const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*"?([^";, \t]*)/g;

/** The entry that a media type matches, the most exact one first; `null`: none. JSON is UTF-8 alone (RFC 8259 §8.1). */
function contentOf(content: readonly LoadedContent[], field: string | null): LoadedContent | null {
  const [, type = '', parameters = ''] = MEDIA_TYPE.exec(field?.trim().toLowerCase() ?? '') ?? [];
  if (type === '' || isSeveral(parameters)) return null;
  const ranges = [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*'];
  const found = ranges.flatMap((range) => content.find((one) => one.type === range) ?? [])[0] ?? null;
  const charsets = [...parameters.matchAll(CHARSET)].map(([, charset]) => charset);
  const isUtf8 = charsets.every((one) => one === 'utf-8' || one === 'utf8');
  const isRead = found?.validator == null || isUtf8;
  return isRead ? found : null;
}

/** Whether parameters may go on with a second type, which origins may read: they have a comma outside of quotes. */
function isSeveral(parameters: string): boolean {
  if (!parameters.includes(',')) return false;
  const parts = parameters.split('"');
  const isQuoted = parts.length % 2 === 1 && !parameters.includes('\\');
  return !isQuoted || parts.some((part, index) => index % 2 === 0 && part.includes(','));
}
