/**
 * The headers that a test of a simulated request has. In: the request, and the plan that decides it. Out: the User-Agent, what a
 * waf rule may inspect, and what conditions of rules ask for; each value that may be a secret is replaced by one that all conditions
 * read alike.
 */
import { isSecretName, LOGGED_HEADERS } from '../../base/http/secret-names.ts';
import { comparisonOf } from '../../base/vocabulary/condition-ops.ts';
import { VALUE_MEMBERS, type ValueMember } from '../../base/vocabulary/vocabulary.ts';
import { printConditions } from '../../engine/compiler/conditions.ts';
import { FLAG, META, SLOT } from '../../engine/plan/layout.ts';
import { openPlan } from '../../engine/plan/seal.ts';
import type { Conditions } from '../../rules/model/types.ts';
import type { Typed } from './request-line.ts';
import { type ComparedValues, meets, sampleValue } from './value-samples.ts';

/** Headers by name in lower case. */
export type TestHeaders = Readonly<Record<string, string | readonly string[]>>;

/** What is known of the plan and of the decision. */
export interface TestedPlan {
  /** The sealed plan. */
  readonly bytes: Uint8Array;
  /** A waf rule inspects the request, or would with signatures. */
  readonly inspects: boolean;
}

/** The headers of the test, or why it cannot have them. */
export function testHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  { bytes, inspects }: TestedPlan,
): Typed<TestHeaders> {
  const asked = comparisonsOf(bytes);
  const written: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const read = askedOf(asked, 'headers', name);
    const isAsked = read !== undefined || name === 'user-agent';
    const isCookie = name === 'cookie' && read === undefined;
    if (isCookie && ![...asked.keys()].some((key) => key.startsWith('cookies '))) continue;
    if (!isAsked && !isCookie && (!inspects || isSecretName(name))) continue;
    const lines = typeof value === 'string' ? [value] : value;
    const alike = lines.map((line) => {
      if (isCookie) return alikeCookies(line, asked);
      return LOGGED_HEADERS.has(name) || read === undefined ? line : alikeValue('headers', line, read);
    });
    if (!alike.every((line) => line !== null)) return { ok: false, error: unrepeatable(name) };
    const lasting = alike.filter((line) => !isCookie || line !== '');
    if (lasting.length > 0) written[name] = typeof value === 'string' ? lasting[0]! : lasting;
  }
  return { ok: true, value: written };
}

function unrepeatable(name: string): string {
  return `a test does not repeat the value of \`${name}\`, which may be a secret, and no other value was found that all conditions read alike`;
}

/** The comparisons of all conditions by what they read, such as `headers x-a`; empty: they ask only whether it is there. */
type AskedValues = ReadonlyMap<string, readonly ComparedValues[]>;

function askedOf(
  asked: AskedValues,
  member: ValueMember,
  name: string,
): readonly ComparedValues[] | undefined {
  return asked.get(`${member} ${name}`);
}

/** What the conditions of the enabled rules compare. */
function comparisonsOf(bytes: Uint8Array): AskedValues {
  const { plan } = openPlan(bytes);
  const asked = new Map<string, readonly ComparedValues[]>();
  for (let slot = 0; slot < plan.meta[META.slots]!; slot++) {
    if ((plan.slots[slot * SLOT.size + SLOT.flags]! & FLAG.enabled) === 0) continue;
    const conditions = printConditions(plan, slot) as Conditions | null;
    for (const member of VALUE_MEMBERS) {
      for (const { name, op, values, ignore_case } of conditions?.[member] ?? []) {
        const compared = comparisonOf(op);
        const more =
          compared === null ? [] : [{ comparison: compared.comparison, values, ignoreCase: ignore_case }];
        asked.set(`${member} ${name}`, [...(askedOf(asked, member, name) ?? []), ...more]);
      }
    }
  }
  return asked;
}

/** Another value that meets the same comparisons; `null`: none was found. */
function alikeValue(member: ValueMember, value: string, compared: readonly ComparedValues[]): string | null {
  const text = value.trim();
  return sampleValue({
    member,
    within: compared.filter((one) => meets(one, text)),
    outside: compared.filter((one) => !meets(one, text)),
  });
}

/** The cookies of a line that conditions name, each with another value; `null`: one has none. */
function alikeCookies(line: string, asked: AskedValues): string | null {
  const pairs: string[] = [];
  for (const part of line.split(';')) {
    const equals = part.indexOf('=');
    const name = part.slice(0, Math.max(0, equals)).trim();
    const read = equals < 0 ? undefined : askedOf(asked, 'cookies', name);
    if (read === undefined) continue;
    const value = alikeValue('cookies', part.slice(equals + 1), read);
    if (value === null) return null;
    pairs.push(`${name}=${value}`);
  }
  return pairs.join('; ');
}
