/** Runs regression cases through a loaded program and judges them as go-ftw does. */
import type { WafFinding, WafInput, WafProgram } from '../../src/engine/waf/request/inspection.ts';
import type { FtwCase, FtwStage, WireRequest } from './ftw.ts';

/** Ids of rules that look at answers, which signatures here do not. */
export function isResponseRule(id: number): boolean {
  return id >= 950_000;
}

/** What the suite asks of a request whose answer nobody looks at. */
export function asksOfRequest({ stages }: FtwCase): boolean {
  return stages.every(({ output }) => {
    const ids = [...(output.log?.expect_ids ?? []), ...(output.log?.no_expect_ids ?? [])];
    return ids.length > 0 && !ids.some(isResponseRule);
  });
}

/** The rule of the Core Rule Set that denies by the score. */
const BLOCKING_EVALUATION = 949_110;

const SETTINGS = { paranoia: 4, threshold: 5, excludes: [], exclusions: [] } as const;

/** A target's octets as the evaluator takes them: UTF-8 text, and escapes where they are none. */
function asText(octets: string): string {
  const text = Buffer.from(octets, 'latin1').toString('utf8');
  if (!text.includes('\ufffd')) return text;
  return octets.replace(/[\x80-\xff]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The finding of one request. */
export function inspectWire(program: WafProgram, wire: WireRequest): WafFinding {
  return program.inspect(wireInput(wire), SETTINGS);
}

/** A request as signatures get it; a body is read as far as the head says it goes. */
export function wireInput(wire: WireRequest): WafInput {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (const { name, value } of wire.headers) {
    const key = name.toLowerCase();
    const before = headers[key];
    if (before === undefined) headers[key] = value;
    else headers[key] = [...(typeof before === 'string' ? [before] : before), value];
  }
  const host = headers.host ?? '';
  const { method, target, protocol, body } = wire;
  const request = {
    scheme: 'http',
    method,
    host,
    target: asText(target),
    protocol,
    headers,
    ip: '127.0.0.1',
  };
  const framed = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  const read = framed && body.length > 0 ? body : null;
  return { request, body: read, truncated: false };
}

/** Why a case fails, `null` when it passes. */
export function judgeCase(program: WafProgram, { stages }: FtwCase): string | null {
  for (const stage of stages) {
    const { ids, score } = inspectWire(program, stage.request);
    // Which rule compares the score with the threshold is not told where the score says it all.
    const evaluated = score >= SETTINGS.threshold ? [BLOCKING_EVALUATION] : [];
    const wrong = judgeStage(stage, new Set([...ids, ...evaluated]));
    if (wrong !== null) return wrong;
  }
  return null;
}

function judgeStage({ output }: FtwStage, ids: ReadonlySet<number>): string | null {
  const missing = (output.log?.expect_ids ?? []).filter((id) => !ids.has(id));
  const extra = (output.log?.no_expect_ids ?? []).filter((id) => ids.has(id));
  if (missing.length > 0) return `does not match ${missing.join(', ')}`;
  return extra.length > 0 ? `matches ${extra.join(', ')}` : null;
}
