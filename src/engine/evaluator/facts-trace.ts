/** The facts of a request as a trace reports them. */
import { formatIp } from '../../base/addresses/ip.ts';
import { GROUP, RECORD } from '../plan/layout.ts';
import { botSource, botText, countryCode } from './checks.ts';
import { botOf, ipOf } from './facts.ts';
import { textOf } from './loaded.ts';
import type { Context } from './run.ts';
import type { FactsTrace } from './trace.ts';

/** The facts of `context` as plain data. `refused`: the gate's status, or 0; facts that are read after it are `null`. */
export function factsTrace(context: Context, refused: number): FactsTrace {
  const { facts, loaded } = context;
  const { request } = facts;
  const known = refused === 0;
  const family = known ? ipOf(facts) : 0;
  const bot = known && botOf(facts) >= 0 ? botText(context) : null;
  return {
    scheme: facts.https ? 'https' : 'http',
    method: typeof request.method === 'string' ? request.method : '',
    host: refused === 400 ? null : facts.host,
    path: known ? facts.path : null,
    pathWithoutParameters: known ? facts.pathWithoutParameters : null,
    query: known ? facts.query : null,
    ip: family === 0 ? null : formatIp(family as 4 | 6, facts.ipWords),
    country: known && facts.country >= 0 ? countryCode(facts.country) : null,
    bot: bot === null ? null : { kind: bot, verified: facts.botVerified, from: botSource(facts) },
    ja4: known ? facts.ja4 : null,
    ja4h: known ? facts.ja4h : null,
    records: known ? hostRecords(context, loaded.plan.words) : [],
  };
}

/** The proxied records of the host's group. */
function hostRecords(context: Context, words: Uint32Array): FactsTrace['records'] {
  const { group } = context.facts;
  const records: { id: number; name: string; destination: string }[] = [];
  for (let index = 0; index < words[group + GROUP.count]!; index++) {
    const row = group + GROUP.records + index * RECORD.size;
    records.push({
      id: words[row + RECORD.id]!,
      name: textOf(context.loaded, words[row + RECORD.name]!),
      destination: textOf(context.loaded, words[row + RECORD.destination]!),
    });
  }
  return records;
}
