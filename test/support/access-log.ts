/** Readers of access logs for tests: their context, and entries as what a test compares. */
import {
  type AccessEntry,
  createFactCounts,
  type LineNote,
  type LoggedAnswer,
  type ReaderContext,
} from '../../src/workbench/access-logs/entry.ts';
import { type AccessFormat, readerOf } from '../../src/workbench/access-logs/format.ts';
import { createHostCache } from '../../src/workbench/access-logs/source.ts';

/** A context without defaults that a test would confuse with the log's own facts. */
export function readerContext(given: Partial<ReaderContext> = {}): ReaderContext {
  return {
    hostOf: () => 'default.example',
    sameHost: createHostCache(),
    scheme: 'https',
    captures: [],
    botOf: () => undefined,
    countryOf: () => null,
    asnOf: () => null,
    lacks: createFactCounts(),
    ...given,
  };
}

/** Reads one line with a reader of its own. */
export function readOne(
  format: AccessFormat,
  line: string,
  given: Partial<ReaderContext> = {},
): AccessEntry | LineNote {
  return readerOf(format, readerContext(given))(line);
}

/** What the log says was answered: the status, who made it, and the Location. @throws Error when the line has no request */
export function answerOf(format: AccessFormat, line: string): LoggedAnswer {
  const entry = readOne(format, line);
  if (entry.kind !== 'request') throw new Error(`${JSON.stringify(entry)}: ${line}`);
  const { status, source, location } = entry;
  return { status, source, location };
}

/** Reads one line that has a request. @throws Error when it has none */
export function requestOf(format: AccessFormat, line: string, given: Partial<ReaderContext> = {}) {
  const entry = readOne(format, line, given);
  if (entry.kind !== 'request') throw new Error(`${JSON.stringify(entry)}: ${line}`);
  const { method, host, target, scheme, ip, protocol, headers = {}, country, asn, ja4, bot } = entry.request;
  const present = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  const { time, status } = entry;
  const known = asn === null ? {} : { asn };
  const facts = { ip, protocol, headers: present, country, ...known, ja4, bot };
  return { method, host, target, scheme, ...facts, time, status };
}
