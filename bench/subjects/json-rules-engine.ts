/**
 * The same drop rules in json-rules-engine. Conditions compare facts by operators of our own whose values are compiled
 * closures, so that the engine pays for no pattern or address parsing. Each rule has a priority of its own and the first
 * that matches stops the engine: measured at about half the time of one priority for all, where every rule runs.
 */
import { Engine } from 'json-rules-engine';
import { parseIp, parseIpEntry } from '../../src/base/addresses/ip.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { DropRule } from '../../src/rules/model/types.ts';
import type { Answer } from '../harness/answer.ts';

type Condition = { readonly fact: string; readonly operator: string; readonly value: unknown };

export const API = 'Engine.run, rules added once, falling priorities, stop at the first match';

/** Answers requests through an engine; a run is asynchronous, as all of its are. */
export function jsonRulesEngine(rules: readonly DropRule[]): (request: EdgeRequest) => Promise<Answer> {
  const engine = new Engine([], { allowUndefinedFacts: true });
  engine.addOperator('passes', (fact: unknown, test: (fact: unknown) => boolean) => test(fact));
  engine.addOperator('isOneOf', (fact: string, listed: ReadonlySet<string>) => listed.has(fact));
  for (const [index, rule] of rules.entries()) {
    engine.addRule({
      priority: rules.length - index,
      conditions: { all: conditionsOf(rule) as never },
      event: { type: 'drop', params: { id: rule.id } },
    });
  }
  engine.on('success', () => engine.stop());
  const words = new Uint32Array(4);
  return async (request) => {
    const family = parseIp(request.ip!, words);
    const { events } = await engine.run({
      host: request.host,
      path: request.target.split('?')[0]!,
      country: request.country ?? '',
      address: family === 4 ? words[0]! : -1,
    });
    let first = Number.POSITIVE_INFINITY;
    for (const { params } of events) first = Math.min(first, params!['id']);
    if (first === Number.POSITIVE_INFINITY) return { action: 'forward', type: null, id: null, matched: null };
    return { action: 'block', type: 'drop', id: first, matched: null };
  };
}

function conditionsOf(rule: DropRule): readonly Condition[] {
  const conditions: Condition[] = [];
  if (rule.countries.length > 0) {
    conditions.push({ fact: 'country', operator: 'isOneOf', value: new Set(rule.countries) });
  }
  if (rule.ips.length > 0)
    conditions.push({ fact: 'address', operator: 'passes', value: addressTest(rule.ips[0]!) });
  if (rule.host_includes.length > 0) {
    conditions.push({ fact: 'host', operator: 'equal', value: rule.host_includes[0] });
  }
  const [entry] = rule.path_includes;
  if (entry !== undefined && entry !== '/*') {
    const [head, tail] = entry.split('*') as [string, string];
    const test = (path: string) => path.startsWith(head) && path.endsWith(tail);
    conditions.push({ fact: 'path', operator: 'passes', value: test });
  }
  return conditions;
}

function addressTest(entry: string): (address: number) => boolean {
  const parsed = parseIpEntry(entry);
  if (!parsed.ok) throw new Error(`\`${entry}\` is no address`);
  const low = parsed.first[0]!;
  const high = parsed.last[0]!;
  return (address) => address >= low && address <= high;
}
