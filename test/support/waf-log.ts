/** Lines of a decision log with verdicts of a waf rule, as nodes write them. */
import { lineOf } from './log-lines.ts';

/** Noon of a Monday, UTC. */
export const NOON = Date.UTC(2026, 10, 23, 12);

/** A signature that matched, as a line has it. */
export interface LoggedMatch {
  readonly id: number;
  readonly name: string;
  readonly category: string;
  readonly score: number;
  readonly target: string;
  readonly part: string;
}

/** What differs between lines of a test. */
export interface WafLineParts {
  readonly at?: number;
  readonly id?: string;
  readonly domain?: string;
  readonly ip?: string | null;
  readonly path?: string;
  readonly agent?: string;
  /** A page of the site led to the request. */
  readonly fromPage?: boolean;
  /** What the application answered. */
  readonly status?: number;
  readonly matches?: readonly LoggedMatch[];
  readonly mode?: 'dry_run' | 'enforce';
  readonly rule?: string;
  /** `null`: the sum of the matches. */
  readonly score?: number | null;
  readonly threshold?: number;
  readonly sampled?: number | null;
  /** Further fields of the verdict. */
  readonly verdict?: object;
}

/** The signature that finds markup; `change` changes it. */
export function markup(change: Partial<LoggedMatch> = {}): LoggedMatch {
  const target = 'ARGS:body';
  return { id: 11_335, name: 'markup', category: 'xss', score: 5, target, part: '<b onclick=', ...change };
}

/** One line; without `matches` a plain request. */
export function wafLine(parts: WafLineParts): Readonly<Record<string, unknown>> {
  const { at = NOON, domain = 'shop.test', ip = '192.0.2.1', path = '/', agent = 'Mozilla/5.0' } = parts;
  const { fromPage = false, status = 200, matches = [], mode = 'dry_run', rule = 'waf/attacks' } = parts;
  const { score = null, threshold = 5, sampled = null, verdict = {} } = parts;
  const sum = score ?? matches.reduce((total, match) => total + match.score, 0);
  const found = { score: sum, ids: matches.map(({ id }) => id), matches, ...verdict };
  const blocks = sum >= threshold;
  const isBlocked = blocks && mode === 'enforce';
  const line = lineOf({
    ...{ domain, at, ip, target: path, action: isBlocked ? 'block' : 'forward' },
    ...(parts.id === undefined ? {} : { id: parts.id }),
    shadow: blocks && !isBlocked ? 'block' : null,
  });
  const headers = { 'user-agent': agent, ...(fromPage ? { 'sec-fetch-site': 'same-origin' } : {}) };
  const effect = blocks ? 'block' : 'passed';
  const match = { rule, mode, effect, ...(mode === 'dry_run' ? { waf: found } : {}) };
  return {
    ...line,
    sampled,
    request: { ...(line['request'] as object), headers },
    matches: matches.length === 0 && score === null ? [] : [match],
    waf: mode === 'enforce' && matches.length > 0 ? found : null,
    status: isBlocked ? 403 : status,
  };
}

/** The lines of 80 people who write rich text in articles, with an ordinary request of each before. */
export function editorLines(change: Partial<WafLineParts> = {}): ReturnType<typeof wafLine>[] {
  return Array.from({ length: 80 }, (_, person) => {
    const about = { ip: `198.51.100.${person}`, agent: `Mozilla/5.0 ${person % 7}`, ...change };
    const at = NOON + (person % 8) * 3_600_000;
    return [
      wafLine({ ...about, at, path: '/articles/' }),
      wafLine({ ...about, at: at + 1_000, path: `/articles/${person}`, fromPage: true, matches: [markup()] }),
    ];
  }).flat();
}

/** The lines of a scanner: one address, 40 paths that are not there, several categories. */
export function scannerLines(change: Partial<WafLineParts> = {}): ReturnType<typeof wafLine>[] {
  const categories = ['sqli', 'rce', 'lfi', 'xss'] as const;
  return Array.from({ length: 40 }, (_, index) => {
    const category = categories[index % 4]!;
    const match = markup({
      id: 11_000 + (index % 4),
      category,
      name: category,
      target: 'ARGS:id',
      part: "' or 1",
    });
    const at = NOON + 60_000 + index * 100;
    const about = { at, ip: '203.0.113.9', agent: 'curl', path: `/s${index}/x.php`, status: 404 };
    return wafLine({ ...about, matches: [match], ...change });
  });
}
