/** The search list of `resolv.conf(5)`: what completes a name of few labels, as in Kubernetes and company networks. */
import { readFile } from 'node:fs/promises';
import { fileMark } from '../../base/platform/watched-file.ts';
import { MAX_SEARCH_DOMAINS } from './limits.ts';

export interface SearchList {
  /** The full names to ask for, in order; a name with a trailing dot is full. */
  formsOf(name: string): Promise<readonly string[]>;
}

/** The `search` and `ndots` of a file. */
interface Settings {
  readonly domains: readonly string[];
  /** Dots from which on a name is asked for as it is first. */
  readonly dots: number;
}

const NO_SEARCH: Settings = { domains: [], dots: 1 };
/** The most that `ndots` may be (resolv.conf(5)). */
const MOST_DOTS = 15;

/** Reads the file again when it has changed; `null`, and a file that cannot be read: no list. */
export function openSearchList(path: string | null): SearchList {
  let lastMark = '';
  let settings = NO_SEARCH;
  return {
    async formsOf(name) {
      if (name.endsWith('.')) return [name.slice(0, -1)];
      if (path === null) return [name];
      const mark = await fileMark(path);
      if (mark !== lastMark) {
        settings = readSettings(await readFile(path, 'latin1').catch(() => ''));
        lastMark = mark;
      }
      const { domains, dots } = settings;
      const completed = domains.map((domain) => `${name}.${domain}`);
      return name.split('.').length > dots ? [name, ...completed] : [...completed, name];
    },
  };
}

/** The last `search` or `domain` line applies. */
function readSettings(text: string): Settings {
  let settings = NO_SEARCH;
  for (const line of text.split('\n')) {
    const [keyword = '', ...values] = line.split(/[#;]/, 1)[0]!.trim().split(/\s+/);
    if (keyword === 'search' || keyword === 'domain') settings = { ...settings, domains: domainsOf(values) };
    const dots = keyword === 'options' ? values.findLast((value) => /^ndots:\d+$/.test(value)) : undefined;
    if (dots !== undefined) settings = { ...settings, dots: Math.min(Number(dots.slice(6)), MOST_DOTS) };
  }
  return settings;
}

/** Domains without the root, which completes nothing. */
function domainsOf(values: readonly string[]): readonly string[] {
  return values
    .map((value) => value.toLowerCase().replace(/\.$/, ''))
    .filter((value) => value !== '')
    .slice(0, MAX_SEARCH_DOMAINS);
}
