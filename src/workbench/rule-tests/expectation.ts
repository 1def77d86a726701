/**
 * Reads the expectation of a test, in short form (`block 403 by drop/office-only`) or as the fields of a decision.
 * Both become a partial decision to compare with. The short forms are
 *
 *     forward [to <scheme>://<address>[:port][/path[?query]]] [by <rule>]
 *     block [status] [by <rule>]             challenge [status] [by <rule>]
 *     redirect [status] [to <location>] [by <rule>]
 *     respond [status] [by <rule>]           refuse [status] [by <rule>]
 *     page [svc|custom|origin] [by <rule>]   no page            (beside `response`)
 *     nothing                                                    (under `would`)
 *
 * What is not stated may have any value. `forward to` with a path compares path and query in full; without one it
 * compares the origin only.
 */
import { APPLICATION_HOST } from '../../base/vocabulary/vocabulary.ts';
import { ACTIONS, type Action } from '../../engine/evaluator/decision.ts';
import { foundIn, type Item, type ScalarItem } from '../../rules/files/test-file-values.ts';
import { nearest } from '../../rules/model/nearest.ts';
import {
  type ExpectationContext,
  type ExpectedFields,
  readFields,
  readPageFields,
} from './expected-fields.ts';

/** A partial decision or error page. */
export interface Expectation {
  /** As the test states it, for reports. */
  readonly text: string;
  /** `null`: no shadow, or no page, is expected. */
  readonly fields: ExpectedFields | null;
}

/** Reads one expectation; reports a mistake and returns `null`. */
export function readExpectation(item: Item, context: ExpectationContext): Expectation | null {
  if (item.kind === 'map') {
    const fields = context.about === 'page' ? readPageFields(item, context) : readFields(item, context);
    return fields === null ? null : { text: describeFields(item), fields };
  }
  if (item.kind === 'scalar' && typeof item.value === 'string') return readShort(item, context);
  return context.notes.complain(item, {
    code: 'invalid_expectation',
    message: 'must be a sentence such as `block 403 by drop/office-only`, or a map of fields',
    found: foundIn(item),
  });
}

/** Fields as text, for reports. */
function describeFields(item: Item): string {
  if (item.kind === 'scalar') return item.value === null ? 'null' : String(item.value);
  if (item.kind === 'list') return `[${item.items.map(describeFields).join(', ')}]`;
  return [...item.entries].map(([key, entry]) => `${key}: ${describeFields(entry.item)}`).join(', ');
}

/** The remaining words of a short form; readers remove them from the front. */
interface Words {
  readonly item: ScalarItem;
  readonly words: string[];
  readonly context: ExpectationContext;
}

const NOTHING: readonly string[] = ['nothing', 'no page'];

/** Reads a short form. */
function readShort(item: ScalarItem, context: ExpectationContext): Expectation | null {
  const text = String(item.value).trim().replace(/\s+/g, ' ');
  const nothing = context.about === 'page' ? NOTHING : context.shadow ? ['nothing'] : [];
  if (nothing.includes(text)) return { text, fields: null };
  const reading: Words = { item, words: text.split(' '), context };
  const fields = context.about === 'page' ? readPage(reading) : readDecision(reading);
  return fields === null ? null : { text, fields };
}

/** The syntax of each short form, for remedies. */
const FORMS: Readonly<Record<Action | 'page', string>> = {
  forward: 'forward [to <url>] [by <rule>]',
  block: 'block [status] [by <rule>]',
  challenge: 'challenge [status] [by <rule>]',
  redirect: 'redirect [status] [to <location>] [by <rule>]',
  respond: 'respond [status] [by <rule>]',
  refuse: 'refuse [status] [by <rule>]',
  page: 'page [svc|custom|origin] [by <rule>], or no page',
};

/** Reads an action with its status, target and rule. */
function readDecision(reading: Words): ExpectedFields | null {
  const { words } = reading;
  const word = words.shift() ?? '';
  const action = ACTIONS.find((known) => known === word);
  if (action === undefined) return unknownAction(word, reading);
  const status =
    action !== 'forward' && /^[1-5]\d\d$/.test(words[0] ?? '') ? { status: Number(words.shift()) } : {};
  const to = action === 'forward' || action === 'redirect' ? readTo(action, reading) : {};
  const by = to === null ? null : readBy(reading);
  if (to === null || by === null) return null;
  return finish(action, reading, { action, ...status, ...to, ...by });
}

/** Reports a first word that is no action. */
function unknownAction(word: string, { item, context }: Words): null {
  const shadow = context.shadow ? ['nothing'] : [];
  const known = [...ACTIONS, ...shadow];
  const page = word === 'page' ? 'add a `response`: a page is expected for its status' : null;
  const closest = nearest(word, known);
  const remedy = page ?? (closest === null ? `start with ${known.join(', ')}` : `write \`${closest}\``);
  return reportMistake(item, { context, message: `\`${word}\` is not an action of the edge`, remedy });
}

/** Reports a mistake in a short form. */
function reportMistake(
  item: ScalarItem,
  { context, message, remedy }: { context: ExpectationContext; message: string; remedy: string },
): null {
  return context.notes.complain(item, { code: 'invalid_expectation', message, found: foundIn(item), remedy });
}

/** Reports words that are left over. */
function finish(
  form: keyof typeof FORMS,
  { item, words, context }: Words,
  fields: ExpectedFields,
): ExpectedFields | null {
  const rest = words[0];
  if (rest === undefined) return fields;
  const message = `\`${rest}\` was not expected there`;
  return reportMistake(item, { context, message, remedy: `write ${FORMS[form]}` });
}

/** Reads `to <url>` of a forward, or `to <location>` of a redirect. */
function readTo(action: 'forward' | 'redirect', { item, words, context }: Words): ExpectedFields | null {
  if (words[0] !== 'to') return {};
  words.shift();
  const target = words.shift();
  if (target === undefined) {
    return reportMistake(item, {
      context,
      message: 'nothing follows `to`',
      remedy: `write ${FORMS[action]}`,
    });
  }
  if (action === 'redirect') return { location: target };
  const application = /^application:(\/[^?]*)?(?:\?(.*))?$/.exec(target);
  if (application !== null) {
    const [, path, query] = application;
    const origin = { address: APPLICATION_HOST, source: 'record' };
    return path === undefined ? { origin } : { origin, path, query: query ?? null };
  }
  const parts = /^(https?|auto):\/\/(?:\[([^\]]+)\]|([^/?#:]+))(?::(\d{1,5}))?(\/[^?]*)?(?:\?(.*))?$/.exec(
    target,
  );
  if (parts === null) {
    const message = `\`${target}\` is not the URL of an origin`;
    return reportMistake(item, {
      context,
      message,
      remedy: 'write for example `https://10.0.4.9:8443/v2/orders?id=7`',
    });
  }
  const [, scheme, bracketed, plain, port, path, query] = parts;
  const implied = scheme === 'https' ? 443 : scheme === 'http' ? 80 : null;
  const origin = { scheme, address: bracketed ?? plain, port: port === undefined ? implied : Number(port) };
  return path === undefined ? { origin } : { origin, path, query: query ?? null };
}

/** Reads `by <rule>`. */
function readBy({ item, words, context }: Words): ExpectedFields | null {
  if (words[0] !== 'by') return {};
  words.shift();
  const named = context.names.find(words.shift() ?? '');
  if (named.ok) return { rule: named.ref };
  return context.notes.complain(item, { code: 'unknown_rule', message: named.message, remedy: named.remedy });
}

const PAGE_KINDS = ['svc', 'custom', 'origin'] as const;

/** Reads the expectation of an error page. */
function readPage(reading: Words): ExpectedFields | null {
  const { item, words, context } = reading;
  const word = words.shift();
  if (word !== 'page') {
    const message = `\`${word}\` is not a page, and with a \`response\` the expectation is about the page`;
    return reportMistake(item, { context, message, remedy: `write ${FORMS.page}` });
  }
  const kind = PAGE_KINDS.find((known) => known === words[0]);
  if (kind !== undefined) words.shift();
  const by = readBy(reading);
  return by === null ? null : finish('page', reading, { ...(kind === undefined ? {} : { kind }), ...by });
}
