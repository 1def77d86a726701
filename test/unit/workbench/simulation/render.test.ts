import { describe, expect, it } from 'vitest';
import type { RuleTrace } from '../../../../src/engine/evaluator/trace.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';
import { renderTrace } from '../../../../src/workbench/simulation/render.ts';
import { renderWhy } from '../../../../src/workbench/simulation/render-why.ts';
import { BLOCKED, phase, rule, SHOP_PHASES, SHOP_TRACE, shopDocument } from './sample.ts';

function text(document = shopDocument(), width = Number.POSITIVE_INFINITY, all = false): string {
  return paint(renderTrace(document, { width, all }), false);
}

describe('renderTrace', () => {
  it('prints request, outcome, dry run, phases, assumptions and counts in that order', () => {
    expect(text().split('\n')).toEqual([
      '',
      '  GET https://shop.example.com/api/orders?id=7',
      '  from 203.0.113.7 · RU · bot gptbot (user agent only) · plan v41 sha256:9f2c51d',
      '',
      '  ✔ FORWARD  https://10.0.4.9:8443/v2/orders?id=7',
      '     by origin_route #71 api · Host: api.internal · rewritten by #64',
      '  ◇ DRY RUN  drop #57 would have answered 403 (country RU is in countries [RU, BY])',
      '',
      '   0 gate        record 12 shop.example.com → 198.51.100.20',
      '   1 drop        ◇ drop #57 embargo      would block  country RU is in countries [RU, BY]  edge.yaml:31',
      '                 + 1 skipped by path · 1 not in scope · 1 disabled',
      '   2 fingerprint · fingerprint #5        skipped      no JA4 was given, so nothing to compare',
      '   3 bot_route   no rules',
      '   4 rate_limit  ● rate_limit #18        counted      request 1 of 100 in 60 s for ip 203.0.113.7',
      '   5 waf         no rules',
      '   6 redirect    no rules',
      '   7 captcha     no rules',
      '   8 rewrite     ● rewrite #64           rewritten    /api/orders → /v2/orders',
      '   9 cache       no rules',
      '  10 origin      ● origin_route #71 api  chosen       path /api/orders matches /api/*  edge.yaml:106',
      '                 ○ origin_pool #80       not used     origin_route #71 takes precedence over pools',
      '  11 error_page  ~ error_page #12        depends      applies to 502, 503 and 504',
      '',
      '  assumed   ja4 not given · rate counters empty',
      '  8 rules considered, 4 matched, 31 µs · --why api explains one rule · --all · --json · --as-test',
      '',
      '',
    ]);
  });

  it('prints reasons below their rules where 80 columns leave no room beside them', () => {
    const lines = text(shopDocument(), 80, true).split('\n');
    const at = lines.findIndex((line) => line.includes('drop #41'));
    expect(lines.slice(at, at + 3)).toEqual([
      '                 · drop #41 office-only  skipped',
      '                     path /api/orders is not in path_includes [/admin/*]',
      '                     path_includes[0] · edge.yaml:38',
    ]);
  });

  it('says whose request it is', () => {
    const { request, ...rest } = shopDocument();
    const identity = { consumer: 'acme', scopes: ['read', 'write'], claims: { sub: '7' } };
    expect(text({ ...rest, request: { ...request, identity } })).toContain(
      ' · consumer acme · scopes read write · claims sub · plan v41',
    );
    const refused = { ...request, identity: { consumer: null, failure: 'expired' as const } };
    expect(text({ ...rest, request: refused })).toContain(' · no consumer · credentials expired · plan v41');
  });

  it('lists with `all` the rules that it otherwise only counts', () => {
    const listed = text(shopDocument(), Number.POSITIVE_INFINITY, true);
    expect(listed).toContain('· drop #90              not in scope  bound to record 99');
    expect(listed).toContain('· drop #91              disabled      switched off');
    expect(listed).not.toContain('+ 1 not in scope');
  });

  it('prints the number of rules of a phase that was not reached', () => {
    const phases = SHOP_PHASES.map((one) =>
      one.name === 'origin' ? { ...one, outcome: 'not_reached' as const } : one,
    );
    const document = shopDocument({ trace: { ...SHOP_TRACE, decision: BLOCKED, phases } });
    expect(text(document)).toContain('  10 origin      ○ not reached (2 rules)\n');
    expect(text(document)).not.toContain('origin_route #71');
  });

  it('prints consecutive phases that were not reached on one line, unless `all` is set', () => {
    const phases = SHOP_PHASES.map((one, index) =>
      index > 1 && index < 11 ? { ...one, outcome: 'not_reached' as const } : one,
    );
    const document = shopDocument({ trace: { ...SHOP_TRACE, decision: BLOCKED, phases } });
    const lines = text(document).split('\n');
    const at = lines.indexOf('   2–10          ○ not reached (5 rules)');
    expect(lines[at + 1]).toMatch(/^ {2}11 error_page/);
    expect(text(document)).not.toContain('fingerprint');
    for (const name of ['fingerprint', 'waf', 'origin'])
      expect(text(document, 100, true)).toMatch(new RegExp(`^ +\\d+ ${name} `, 'm'));
  });

  it('fits that line into 40 columns', () => {
    const many = Array.from({ length: 10 }, (_, index) =>
      rule({
        type: 'error_page',
        id: index + 1,
        outcome: 'not_reached',
        reason: ['request_ended', 'settled'],
      }),
    );
    const phases = [{ ...phase('error_page', many), outcome: 'not_reached' as const }];
    const document = shopDocument({ trace: { ...SHOP_TRACE, decision: BLOCKED, phases } });
    expect(text(document, 40)).toContain('  11 error_page  ○ not reached\n                 (10 rules)\n');
  });

  it('lists a rule that matched after thirty skipped ones', () => {
    const skipped = Array.from({ length: 30 }, (_, index) =>
      rule({ type: 'drop', id: index + 1, outcome: 'skipped', reason: ['path_not_included', 'elsewhere'] }),
    );
    const hit = rule({
      type: 'drop',
      id: 57,
      outcome: 'matched',
      effect: 'block',
      reason: ['all_checks_passed', 'matched'],
    });
    const trace = { ...SHOP_TRACE, decision: BLOCKED, phases: [phase('drop', [...skipped, hit])] };
    const shown = text(shopDocument({ trace }));
    expect(shown).toContain('✘ BLOCK  403\n     by drop #57 embargo · matched · edge.yaml:31');
    expect(shown).toContain('✘ drop #57 embargo  blocked');
  });

  it('prints the reason of a refusal', () => {
    const decision = { ...BLOCKED, action: 'refuse' as const, status: 421, rule: null };
    const phases = [phase('gate', [], 'no domain of this plan owns `evil.test`')];
    const shown = text(shopDocument({ trace: { ...SHOP_TRACE, decision, phases } }));
    expect(shown).toContain('✘ REFUSE  421\n     no domain of this plan owns `evil.test`');
  });

  it('prints a word beside every symbol', () => {
    for (const line of text(shopDocument(), 100, true).split('\n')) {
      const symbol = /[✔✘◇●○·~] ?(?=\S)/u.exec(line);
      if (symbol !== null) expect(line.slice(symbol.index)).toMatch(/^[^a-zA-Z]{1,3}[a-zA-Z-]{2,}/);
    }
  });

  it('escapes control characters', () => {
    const evil = rule({
      type: 'drop',
      id: 57,
      outcome: 'skipped',
      reason: ['path_not_included', 'path /\u001b[2J\u202e is not listed'],
    });
    const document = shopDocument({
      trace: { ...SHOP_TRACE, phases: [phase('drop', [evil])] },
      url: 'https://x/\u0007',
    });
    expect(text(document)).toContain('path /\\u{1b}[2J\\u{202e} is not listed');
    expect(text(document)).toContain('https://x/\\u{7}');
  });

  it('prints the same text with and without colour', () => {
    const lines = renderTrace(shopDocument(), { width: 100, all: true });
    const coloured = paint(lines, true);
    expect(coloured).toContain('\u001b[');
    // biome-ignore lint/complexity/useRegexLiterals: the escape character reads better spelled out
    const codes = new RegExp('\u001b\\[[0-9]+m', 'g');
    const bare = coloured.replace(codes, '').replace(/ +$/gm, '');
    expect(bare).toBe(paint(lines, false));
  });
});

describe('renderWhy', () => {
  const [skipped] = shopDocument().phases.flatMap((one) => one.rules.filter((note) => note.id === 41));

  it('lists every check, what failed and a request that would match', () => {
    const lines = renderWhy(skipped!, {
      width: 100,
      wouldMatch: 'https://shop.example.com/admin/',
      signatures: null,
    });
    expect(paint(lines, false)).toBe(
      [
        '  drop #41 office-only  priority 100 · enforce · enabled   edge.yaml:38',
        '  ✔ pass  host  shop.example.com matches *.example.com   host_includes[0]',
        '  ✘ fail  path  /api/orders does not match /admin/*      path_includes[0]',
        '  → skipped: 1 of 2 checks failed. It would match  https://shop.example.com/admin/',
        '',
      ].join('\n'),
    );
  });

  it('prints no matching request when none was found', () => {
    const lines = renderWhy(skipped!, { width: 100, wouldMatch: null, signatures: null });
    expect(paint(lines, false)).toMatch(/→ skipped: 1 of 2 checks failed\n$/);
  });

  it('prints a check whose input is unknown as unknown', () => {
    const [unknown] = shopDocument().phases.flatMap((one) => one.rules.filter((note) => note.id === 5));
    expect(paint(renderWhy(unknown!, { width: 100, wouldMatch: null, signatures: null }), false)).toContain(
      '? unknown  ja4  not given',
    );
  });
});

/** The lines of one phase with these rules. */
function phaseText(rules: readonly RuleTrace[], { all = false } = {}): readonly string[] {
  const document = shopDocument({
    trace: { ...SHOP_TRACE, phases: [phase('drop', rules)] },
    sources: new Map(),
  });
  const text = paint(renderTrace(document, { width: Number.POSITIVE_INFINITY, all }), false);
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line.includes(' 1 drop '));
  return lines
    .slice(from, lines.indexOf('', from))
    .map((line) => line.slice('   1 drop        '.length).trimEnd());
}

/** A skipped rule; `lacks`: the fact that the request does not have. */
function skipped(id: number, code: RuleTrace['reason']['code'], lacks?: 'ja4' | 'ja4h'): RuleTrace {
  const checks = lacks === undefined ? [] : [{ check: lacks, pass: null, text: 'not given' }];
  return rule({ type: 'drop', id, outcome: 'skipped', reason: [code, 'so it is'], checks });
}

const hit = rule({
  type: 'drop',
  id: 57,
  outcome: 'matched',
  effect: 'block',
  reason: ['over_limit', 'hit'],
});

describe('a phase folds', () => {
  it('the rules that one kind of filter excluded into one line', () => {
    const rules = [skipped(1, 'path_not_included'), skipped(2, 'path_excluded'), hit];
    expect(phaseText(rules)).toEqual(['✘ drop #57  blocked  hit', '+ 2 skipped by path']);
  });

  it('the rules of several kinds with a number for each kind', () => {
    const rules = [
      skipped(1, 'path_not_included'),
      skipped(2, 'host_excluded'),
      skipped(3, 'path_not_included'),
      hit,
    ];
    expect(phaseText(rules).at(-1)).toBe('+ 3 skipped by path (2), host (1)');
  });

  it('the rules that need a fact which is not given apart from the others', () => {
    const rules = [
      skipped(1, 'missing_input', 'ja4'),
      skipped(2, 'missing_input', 'ja4'),
      skipped(3, 'missing_input', 'ja4h'),
      skipped(4, 'country_unknown'),
      skipped(5, 'ip_not_listed'),
    ];
    expect(phaseText(rules)).toEqual([
      '+ 1 skipped by address · 4 skipped: no JA4 given (2), no JA4H given (1), no country given (1)',
    ]);
  });

  it('the rules behind the one that ended the request, but no rule that another one displaced', () => {
    const behind = (id: number) =>
      rule({ type: 'drop', id, outcome: 'not_reached', reason: ['request_ended', 'settled before'] });
    const displaced = rule({
      type: 'drop',
      id: 9,
      outcome: 'not_reached',
      reason: ['slot_taken', 'drop #57 comes first'],
    });
    expect(phaseText([hit, behind(1), displaced, behind(2)])).toEqual([
      '✘ drop #57  blocked   hit',
      '○ drop #9   not used  drop #57 comes first',
      '+ 2 not reached',
    ]);
  });

  it('several rules that depend on the answer into a line with their names', () => {
    const waits = (id: number) =>
      rule({ type: 'error_page', id, outcome: 'conditional', reason: ['needs_response', 'applies to 502'] });
    expect(phaseText([waits(12), waits(13)])).toEqual(['~ 2 depend on the status of the answer: #12, #13']);
    expect(phaseText([waits(12)])).toEqual(['~ error_page #12  depends  applies to 502']);
  });

  it('nothing with `all`', () => {
    const rules = [skipped(1, 'path_not_included'), skipped(2, 'path_not_included'), hit];
    expect(phaseText(rules, { all: true })).toHaveLength(3);
  });
});

describe('a phase shows', () => {
  it('the reason of its only rule that filters excluded', () => {
    expect(phaseText([skipped(1, 'path_not_included'), skipped(2, 'disabled')])).toEqual([
      '· drop #1  skipped  so it is',
      '+ 1 disabled',
    ]);
  });

  it('a skipped rule in full if its reason is of no known kind', () => {
    const rules = [skipped(1, 'path_not_included'), skipped(2, 'self_redirect'), skipped(3, 'host_excluded')];
    expect(phaseText(rules)).toEqual(['· drop #2  skipped  so it is', '+ 2 skipped by path (1), host (1)']);
  });
});

describe('the hint at the end', () => {
  it('names the rule that decided by its key', () => {
    const text = paint(renderTrace(shopDocument(), { width: 200, all: false }), false);
    expect(text).toContain('--why api explains one rule');
  });

  it('names a rule without a key by its id, and by its type if another type has the id', () => {
    const without = (rules: readonly RuleTrace[]) =>
      paint(
        renderTrace(
          shopDocument({ trace: { ...SHOP_TRACE, phases: [phase('drop', rules)] }, sources: new Map() }),
          { width: 200, all: false },
        ),
        false,
      );
    expect(without([hit])).toContain('--why 57 explains');
    const other = rule({
      type: 'waf',
      id: 57,
      outcome: 'skipped',
      reason: ['path_excluded', 'elsewhere'],
    });
    expect(without([hit, other])).toContain('--why drop/57 explains');
  });
});
