/** Lines of the decision log as a node ships them, and batches of them. */
import { randomUUID } from 'node:crypto';

/** What differs between lines of a test; the rest is plain. */
export interface LineParts {
  readonly domain: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly id?: string;
  readonly action?: string;
  readonly shadow?: string | null;
  readonly rule?: string | null;
  readonly matches?: readonly string[];
  readonly ip?: string | null;
  readonly target?: string;
  readonly fault?: string | null;
  readonly digest?: string;
  readonly revision?: number;
}

type Line = Readonly<Record<string, unknown>> & { readonly id: string; readonly domain: string };

function decisionOf(action: string, rule: string | null) {
  return {
    action,
    status: action === 'block' ? 403 : null,
    rule,
    location: null,
    origin: null,
    host_header: null,
    path: null,
    cache: null,
    tags: [],
  };
}

/** One line. */
export function lineOf(parts: LineParts): Line {
  const { domain, at, id = randomUUID(), action = 'block', shadow = null, rule = null } = parts;
  const { matches = [], ip = '192.0.2.1', target = '/', fault = null } = parts;
  return {
    format: 'edgeplan.decision/v1',
    time: new Date(at).toISOString(),
    id,
    domain,
    revision: parts.revision ?? 1,
    digest: parts.digest ?? 'a'.repeat(64),
    sampled: null,
    request: { scheme: 'https', method: 'GET', host: domain, target, ip, headers: {} },
    unserved: null,
    withheld: [],
    decision: decisionOf(action, rule),
    matches: matches.map((one) => ({ rule: one, mode: 'enforce', effect: 'block' })),
    shadow: shadow === null ? null : decisionOf(shadow, rule),
    waf: null,
    status: 403,
    octets: 10,
    duration_ms: 1.5,
    cache: null,
    markdown: null,
    fault,
  };
}

/** What differs between counted lines of a test. */
export interface CountedParts {
  readonly domain: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly id?: string;
  readonly action?: string;
  readonly rule?: string | null;
  readonly network?: string | null;
  readonly requests?: number;
}

/** One counted line. */
export function countedOf({ domain, at, ...parts }: CountedParts): Line {
  const time = new Date(at).toISOString();
  return {
    ...{ format: 'edgeplan.counted/v1', time, until: time, id: randomUUID(), domain, action: 'block' },
    ...{ rule: 'drop/7', network: '192.0.2.0/24', requests: 1_000, ...parts },
  };
}

/** A batch as JSON lines, with the domains of its lines or those given. */
export function batchOf(
  lines: readonly (Line | Readonly<Record<string, unknown>>)[],
  domains: readonly string[] = [...new Set(lines.map(({ domain }) => String(domain)))],
): Buffer {
  const head = { format: 'edgeplan.log-batch/v1', domains };
  return Buffer.from([head, ...lines].map((one) => `${JSON.stringify(one)}\n`).join(''));
}
