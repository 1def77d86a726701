/**
 * The evaluator of the page, a chunk of its own. In: a plan and the form. Out: the trace document that `edgeplan simulate --json` prints
 * for the same request, or why the form is no request.
 */
import type { RuleRef } from '../../../engine/evaluator/decision.ts';
import { isContentAddressed, refText } from '../../../engine/evaluator/identity.ts';
import { openPlanPart, type PlanPart } from '../../../engine/evaluator/plan-parts.ts';
import { digestsIn } from '../../../engine/plan/list-digests.ts';
import { openSignatures } from '../../../engine/plan/open-signatures.ts';
import { insertsGroups } from '../../../rules/model/groups.ts';
import { planConditions, readCounted } from '../../../workbench/simulation/conditions.ts';
import { readCurl } from '../../../workbench/simulation/curl-line.ts';
import type { TraceDocument } from '../../../workbench/simulation/document.ts';
import { labelOf } from '../../../workbench/simulation/render-rule.ts';
import {
  type RequestFlags,
  readRequest,
  readTime,
  type Typed,
} from '../../../workbench/simulation/request-line.ts';
import {
  type SimulatedRequest,
  type SimulationSubject,
  simulate,
} from '../../../workbench/simulation/simulate.ts';
import { EMPTY_FORM, type RequestForm, wordsOf } from './form.ts';
import { withLibraries } from './later/libraries.ts';
import type { SourcePlan } from './source.ts';

/** A plan that is ready for evaluations, with what may be assumed of it. */
export interface ReadyPlan {
  readonly subject: SimulationSubject;
  readonly conditions: FormConditions;
}

/** What became of a request, with what it was evaluated from. */
export interface Answered extends ReadyPlan {
  readonly ok: true;
  readonly document: TraceDocument;
  readonly asked: SimulatedRequest;
}

/** An answer, or the mistake in the form. */
export type Answer = Answered | { readonly ok: false; readonly error: string };

/** Whether a rule may read captures of its pattern, which needs the regex engine; unknown rules may. */
function mayCapture({ ruleSet }: SimulationSubject): boolean {
  return ruleSet === null || ruleSet.rules.some(insertsGroups);
}

/** The subject with the lists and the registry that its plan refers to by digest. */
async function withLists({ subject, list }: SourcePlan): Promise<SimulationSubject> {
  const digests = list === null ? [] : digestsIn(subject.bytes);
  if (list === null || digests.length === 0) return subject;
  const lists = new Map<string, PlanPart>();
  for (const digest of digests) lists.set(digest, openPlanPart(await list(digest)));
  return { ...subject, lists: (digest) => lists.get(digest) ?? null };
}

/**
 * Prepares a plan for evaluations: loads its lists, and the regex engine and its signatures if it has rules that need them.
 */
export async function openSource(source: SourcePlan): Promise<ReadyPlan> {
  const { signatures } = source;
  const subject = await withLists(source);
  const conditions = formConditions(subject.bytes);
  if (mayCapture(subject)) await (await import('./later/regex.ts')).loadRegexes();
  if (signatures === null) return { subject, conditions };
  const [{ loadSignatures }, { loadRegexes }] = await Promise.all([
    import('../../../engine/waf/load/load.ts'),
    import('./later/regex.ts'),
  ]);
  await loadRegexes();
  const { name, digest, sealed } = signatures;
  const loaded = { name, digest, waf: loadSignatures(openSignatures(sealed)) };
  return { subject: { ...subject, signatures: loaded }, conditions };
}

/** Evaluates the form's request. */
export async function answerTo(opened: ReadyPlan, form: RequestForm): Promise<Answer> {
  const asked = askedOf(form);
  if (!asked.ok) return asked;
  const document = await withLibraries(() => simulate(opened.subject, asked.value));
  return { ok: true, document, asked: asked.value, ...opened };
}

/** `undefined` for a field that is empty. */
function given(text: string): string | undefined {
  const trimmed = text.trim();
  return trimmed === '' ? undefined : trimmed;
}

/** The flags of `edgeplan simulate` that state the form's request. */
function flagsOf(form: RequestForm): RequestFlags {
  const header = form.headers.split('\n').filter((line) => line.trim() !== '');
  return {
    method: given(form.method),
    header,
    userAgent: form.agent === '' ? undefined : form.agent,
    data: form.body === '' ? undefined : form.body,
    ip: given(form.ip),
    country: given(form.country),
    asn: given(form.asn),
    bot: given(form.bot),
    ja4: given(form.ja4),
    ja4h: given(form.ja4h),
    cleared: wordsOf(form.cleared),
  };
}

/** The form as a simulated request. */
export function askedOf(form: RequestForm): Typed<SimulatedRequest> {
  const now: Typed<number> =
    form.at.trim() === '' ? { ok: true, value: Date.now() } : readTime(form.at.trim());
  if (!now.ok) return now;
  const request = readRequest(form.url.trim(), { ...flagsOf(form), now: now.value });
  if (!request.ok) return request;
  const response = responseOf(form.status.trim());
  if (!response.ok) return response;
  if (!/^\d{0,9}$/.test(form.node.trim()))
    return { ok: false, error: `\`${form.node}\` is not the id of a node; write a number` };
  const counted = readCounted(wordsOf(form.counted));
  if (!counted.ok) return counted;
  const { scheme, host, target } = request.value;
  const world = {
    ...(counted.value.size === 0 ? {} : { counted: counted.value }),
    down: wordsOf(form.down),
    nodeId: form.node.trim() === '' ? null : Number(form.node),
    now: now.value,
    nowGiven: form.at.trim() !== '',
  };
  const url = `${scheme}://${String(host)}${target}`;
  return { ok: true, value: { request: request.value, url, world, response: response.value } };
}

/** Reads `502` and `502:edge`. */
function responseOf(text: string): Typed<SimulatedRequest['response']> {
  if (text === '') return { ok: true, value: undefined };
  const [, status = '', by] = /^([1-5]\d\d)(?::(edge|origin))?$/.exec(text) ?? [];
  if (status === '') return { ok: false, error: `\`${text}\` is not a status; write 502 or 502:edge` };
  return { ok: true, value: { status: Number(status), madeBy: by === 'edge' ? 'edge' : 'origin' } };
}

/** The form of a curl command line; what curl has no option for stays as it is in `form`. */
export function formOfCurl(line: string, form: RequestForm): Typed<RequestForm> {
  const read = readCurl(line);
  if (!read.ok) return read;
  const { urls, flags } = read.value;
  const implied = flags.head === true ? 'HEAD' : flags.data === undefined ? 'GET' : 'POST';
  const headers = [
    ...(flags.referer === undefined ? [] : [`Referer: ${flags.referer}`]),
    ...(flags.cookie === undefined ? [] : [`Cookie: ${flags.cookie}`]),
    ...(flags.header ?? []),
  ];
  const named = headers.findIndex((one) => /^user-agent\s*:/i.test(one));
  const agent =
    flags.userAgent ?? (named < 0 ? '' : headers[named]!.slice(headers[named]!.indexOf(':') + 1).trim());
  return {
    ok: true,
    value: {
      ...form,
      url: urls[0] ?? '',
      method: flags.method ?? implied,
      agent,
      headers: headers.filter((_, index) => index !== named || flags.userAgent !== undefined).join('\n'),
      body: flags.data ?? EMPTY_FORM.body,
    },
  };
}

// What a plan offers to the fields of the form: words, labels, limits. Part of the evaluator's chunk.

/** An entry of a field that lists words. */
export interface FormCondition {
  /** The word; of a rate limit, what comes before `=`. */
  readonly word: string;
  readonly label: string;
  /** `<type>/<id>` of the rule or record. */
  readonly rule: string;
}

/** A rate limit with what it lets through. */
export interface LimitEntry extends FormCondition {
  readonly allows: string;
}

/** The entries of each field. */
export interface FormConditions {
  readonly challenges: readonly FormCondition[];
  readonly limits: readonly LimitEntry[];
  readonly origins: readonly FormCondition[];
}

/** Reads the entries of a sealed plan. @throws PlanFault when the bytes are not a plan */
function formConditions(bytes: Uint8Array): FormConditions {
  const { challenges, limits, pools } = planConditions(bytes);
  return {
    challenges: challenges.map(entryOf),
    limits: limits.map(({ rule, requests, windowSec }) => ({
      ...entryOf(rule),
      allows: `of ${requests} in ${windowSec} s`,
    })),
    origins: pools.flatMap(({ id, key, origins }) =>
      origins.map(({ address }, index) => ({
        word: `${id}/${index}`,
        label: `${namesRule(key) ? key : `#${id}`}: ${address}`,
        rule: `origin_pool/${id}`,
      })),
    ),
  };
}

function entryOf(rule: RuleRef): FormCondition {
  const { type, id, key } = rule;
  return {
    word: refText(rule),
    label: labelOf({ type, id, key: namesRule(key) ? key : null }),
    rule: `${type}/${id}`,
  };
}

/** Whether the rule has a key that names it; a hash of its content names nothing. */
function namesRule(key: string | undefined): key is string {
  return key !== undefined && !isContentAddressed(key);
}
