/** Prints a simulated request and its outcome as a test of `edge.test.yaml`, ready to append. */
import { stringify } from 'yaml';
import { timeText } from '../../base/text/time.ts';
import type { Decision } from '../../engine/evaluator/decision.ts';
import { isContentAddressed } from '../../engine/evaluator/identity.ts';
import type { EdgeRequest } from '../../engine/evaluator/request.ts';
import { layOutText } from '../../rules/files/layout.ts';
import { TEST_FILE_ORDERS } from '../../rules/files/test-schema.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import type { ActingRule, Headline, TraceDocument } from './document.ts';
import type { Typed } from './request-line.ts';
import { classified, fixedEvaluator, type SimulatedRequest, type SimulationSubject } from './simulate.ts';
import { type TestHeaders, testHeaders } from './test-headers.ts';

type Fields = Record<string, unknown>;

/** `drop/office-only`, or `drop/41` for a rule without a key. */
function refText(acting: ActingRule): string {
  return `${acting.type}/${acting.key ?? acting.id}`;
}

/** ` by drop/office-only`; empty without a rule. */
function byText(by: ActingRule | null): string {
  return by === null ? '' : ` by ${refText(by)}`;
}

/**
 * The short form of an expectation. `target` follows `to`: an origin URL or a location; `null` if the outcome
 * has neither.
 */
function expected(outcome: Headline, target: string | null): string {
  const status = outcome.status === null ? '' : ` ${outcome.status}`;
  const to = target === null ? '' : ` to ${target}`;
  return `${outcome.action}${status}${to}${byText(outcome.by)}`;
}

/** The origin URL of a forward, or the location of a redirect. */
function targetOf(document: TraceDocument): string | null {
  const { origin, path, query, location } = document.effective;
  if (document.decision.action === 'redirect') return location;
  return origin === null ? null : `${origin}${path ?? ''}${query === null ? '' : `?${query}`}`;
}

/** The verb of each action in a test's name. */
const DONE: Readonly<Record<Headline['action'], string>> = {
  forward: 'is forwarded',
  block: 'is blocked',
  challenge: 'is challenged',
  redirect: 'is redirected',
  respond: 'is answered',
  refuse: 'is refused',
};

/** The test's name: `GET /cart is blocked by office-only`. */
function nameFor(document: TraceDocument, request: EdgeRequest): string {
  const { action, by } = document.decision;
  const byRule = by === null ? '' : ` by ${by.key ?? refText(by)}`;
  return `${request.method} ${request.target} ${DONE[action]}${byRule}`;
}

/** The headers as fields of `with`; a single User-Agent has a field of its own. */
function headerFields({ 'user-agent': agent, ...headers }: TestHeaders): Fields {
  const single = typeof agent === 'string';
  const others = single || agent === undefined ? headers : { ...headers, 'user-agent': agent };
  return {
    ...(single ? { user_agent: agent } : {}),
    ...(Object.keys(others).length === 0 ? {} : { headers: others }),
  };
}

/** The headers of the test, if they lead to the same outcome as those of the request. */
function headersOf(
  { phases }: TraceDocument,
  asked: SimulatedRequest,
  subject: SimulationSubject,
): Typed<TestHeaders> {
  const inspects = phases.some(({ rules }) =>
    rules.some(({ type, outcome }) => type === 'waf' && outcome === 'matched'),
  );
  const { request } = classified(subject, asked);
  const headers = testHeaders(request.headers ?? {}, { bytes: subject.bytes, inspects });
  if (!headers.ok) return headers;
  const [was, now] = [request, { ...request, headers: headers.value }].map((one) =>
    outcomeText(fixedEvaluator(subject, asked.world).evaluate(one)),
  );
  if (was === now) return headers;
  const error =
    'the outcome depends on the value of a header that a test does not repeat, since it may be a secret';
  return { ok: false, error };
}

/** What a test expects of a decision. */
function outcomeText(decision: Decision): string {
  const { action, status, rule, location, origin, path, query, shadow } = decision;
  return JSON.stringify([
    { action, status, rule, location, origin, path, query },
    shadow && outcomeText(shadow),
  ]);
}

/** The addresses of the origins that are down; a simulation names them by pool id and index. */
function downAddresses(asked: SimulatedRequest, ruleSet: RuleSet | null): readonly string[] {
  return asked.world.down.flatMap((text) => {
    const [pool, index] = text.split('/').map(Number);
    const rule = ruleSet?.rules.find(
      (candidate) => candidate.id === pool && candidate.type === 'origin_pool',
    );
    return rule?.type === 'origin_pool' ? (rule.origins[index ?? 0]?.address ?? []) : [];
  });
}

/** The solved challenges by the names that tests use. */
function clearedNames(request: EdgeRequest, subject: SimulationSubject): readonly string[] {
  return (request.cleared ?? []).map((text) => {
    const [type = '', name = ''] = text.split('/');
    const known = type === 'record' ? subject.ruleSet?.keys?.records : subject.ruleSet?.keys?.rules;
    // A test names a rule without an author's key by its id.
    const id = isContentAddressed(name) ? [...(known ?? [])].find(([, key]) => key === name)?.[0] : undefined;
    const key = type === 'record' ? undefined : subject.sources.get(Number(name))?.key;
    return `${type}/${id ?? key ?? name}`;
  });
}

/** Whose request it is, as fields of `with`. */
function identityFields(identity: EdgeRequest['identity']): Fields {
  const { consumer = null, claims, scopes, exhaustedUntil } = identity ?? {};
  return {
    ...(consumer === null ? {} : { consumer }),
    ...(claims === undefined ? {} : { claims }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(exhaustedUntil == null ? {} : { quota_exhausted: timeText(exhaustedUntil) }),
  };
}

/** The facts of the request as fields of `with`. Facts that the simulator would derive again are left out. */
function withFields(
  document: TraceDocument,
  asked: SimulatedRequest,
  { subject, headers }: { readonly subject: SimulationSubject; readonly headers: TestHeaders },
): Fields {
  const { request, world } = asked;
  const { bot } = document.request;
  const down = downAddresses(asked, subject.ruleSet);
  const cleared = clearedNames(request, subject);
  const timed = world.nowGiven || document.assumptions.some((candidate) => candidate.input === 'clock');
  const botField = bot === null ? 'none' : bot.verified ? { kind: bot.kind, verified: true } : bot.kind;
  const givenBot = request.bot !== undefined || bot?.from === 'generic';
  return {
    ...(document.request.ip === null ? {} : { ip: document.request.ip }),
    ...(document.request.country === null ? {} : { country: document.request.country }),
    ...(document.request.asn === undefined ? {} : { asn: document.request.asn }),
    ...(givenBot ? { bot: botField } : {}),
    ...(typeof request.ja4 === 'string' ? { ja4: request.ja4 } : {}),
    ...(typeof request.ja4h === 'string' ? { ja4h: request.ja4h } : {}),
    ...headerFields(headers),
    ...(typeof request.body === 'string' ? { body: request.body } : {}),
    ...(cleared.length === 0 ? {} : { cleared }),
    ...identityFields(request.identity),
    ...(timed ? { at: document.request.at } : {}),
    ...(world.nodeId === null ? {} : { node: world.nodeId }),
    ...(down.length === 0 ? {} : { down }),
  };
}

/**
 * How often a test sends the request, so that its rate limits have counted what they have in the simulation; `null` if no number of
 * requests does that.
 */
function timesOf(
  { phases }: TraceDocument,
  { world: { counted = new Map() } }: SimulatedRequest,
): number | null {
  const limits = phases.flatMap(({ rules }) =>
    rules.filter(({ type, outcome }) => type === 'rate_limit' && outcome === 'matched'),
  );
  const before = new Set(limits.map(({ id, key }) => counted.get(`rate_limit/${key ?? id}`) ?? 0));
  const [only = 0, second] = before;
  return second === undefined ? only + 1 : null;
}

/** The expected error page, for a test with a `response`. */
function pageFields(document: TraceDocument): Fields {
  const page = document.error_page;
  if (page === null || document.decision.action !== 'forward') return {};
  const expect = page.page === null ? 'no page' : `page ${page.page}${byText(page.by)}`;
  return { response: { status: page.status, by: page.made_by }, expect };
}

/** The request lines that a test can contain (`rules/files/test-file-step.ts`). */
const WRITABLE = /^[A-Za-z]+ https?:\/\/[^/?#\s@]+[^#\s]*$/;

/** The line above the list of tests. */
const HEAD = 'tests:\n';

/**
 * The test as an entry of the list `tests`, in the layout of `fmt`, indented by two, or the reason why a test cannot express the request.
 */
export function asTest(
  document: TraceDocument,
  asked: SimulatedRequest,
  subject: SimulationSubject,
): Typed<string> {
  const { request } = asked;
  const line = `${request.method} ${request.scheme}://${String(request.host)}${request.target}`;
  if (typeof request.host !== 'string' || !WRITABLE.test(line)) {
    return { ok: false, error: `a test cannot contain the request line \`${line}\`` };
  }
  const { failure, verified } = request.identity ?? {};
  if (failure != null || verified !== undefined) {
    const error = 'a test contains the consumer, claims and scopes of a request, not how they were verified';
    return { ok: false, error };
  }
  const times = timesOf(document, asked);
  if (times === null) {
    const error =
      'a test sends its request so often that each rate limit counts the same; give all the same number';
    return { ok: false, error };
  }
  const headers = headersOf(document, asked, subject);
  if (!headers.ok) return headers;
  const facts = withFields(document, asked, { subject, headers: headers.value });
  const { shadow } = document;
  const test = {
    name: nameFor(document, request),
    request: line,
    ...(Object.keys(facts).length === 0 ? {} : { with: facts }),
    ...(times === 1 ? {} : { repeat: times }),
    expect: expected(document.decision, targetOf(document)),
    ...(shadow === null ? {} : { would: expected(shadow, null) }),
    ...pageFields(document),
  };
  const text = layOutText(stringify({ tests: [test] }, { lineWidth: 0 }), TEST_FILE_ORDERS);
  return { ok: true, value: text.slice(HEAD.length) };
}
