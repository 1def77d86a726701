/** Chooses the frontends whose requests the edge gets: that of http and that of https. */
import { markMissing, markNeedless } from '../draft.ts';
import type { ImportedCondition } from '../filter.ts';
import { ALWAYS, entryOf, type HaproxyImport, settingOf } from './context.ts';
import type { HaproxySection } from './parse-haproxy.ts';

/** A frontend, and the requests that reach it. */
export interface ChosenFrontend {
  readonly section: HaproxySection;
  readonly scope: ImportedCondition;
  /** Whether a backend serves what no condition chooses. */
  readonly hasDefault: boolean;
}

type Scheme = 'http' | 'https';

/** A listener. */
interface Listener {
  readonly scheme: Scheme;
  readonly port: number;
}

const STANDARD: Readonly<Record<Scheme, number>> = { http: 80, https: 443 };

/** The frontends: that of plain http first, since its redirects lead to the other. */
export function chooseFrontends(state: HaproxyImport): readonly ChosenFrontend[] {
  const open = state.sections.filter((section) => isFrontend(state, section));
  const chosen = (scheme: Scheme): HaproxySection | undefined => {
    const own = open.filter((section) => listenersOf(section).some((one) => one.scheme === scheme));
    const isStandard = (section: HaproxySection): boolean =>
      listenersOf(section).some((one) => one.scheme === scheme && one.port === STANDARD[scheme]);
    return own.find(isStandard) ?? own[0];
  };
  const [plain, secure] = [chosen('http'), chosen('https')];
  for (const section of open) if (section !== plain && section !== secure) leave(state, section);
  const all = plain === secure ? [plain] : [plain, secure];
  const known = all.filter((section) => section !== undefined);
  return known.map((section) => ({
    section,
    scope: known.length === 1 ? ALWAYS : schemeIs(section === plain ? 'http' : 'https'),
    hasDefault:
      settingOf(state, section, 'default_backend') !== undefined ||
      section.lines.some(({ words }) => words[0] === 'server'),
  }));
}

function schemeIs(scheme: Scheme): ImportedCondition {
  return { kind: 'fact', fact: { member: 'schemes', values: [scheme], negated: false } };
}

/** Whether a section listens, and reads HTTP. */
function isFrontend(state: HaproxyImport, section: HaproxySection): boolean {
  if (section.kind !== 'frontend' && section.kind !== 'listen') return false;
  if (listenersOf(section).length === 0) return false;
  const mode = settingOf(state, section, 'mode')?.words[1] ?? 'tcp';
  if (mode === 'http') return true;
  markMissing(entryOf(state, section.head), `its mode is \`${mode}\`: the edge forwards HTTP alone`);
  return false;
}

/** The listeners of a section; one on port 443 has TLS, here or before HAProxy. */
function listenersOf({ lines, head }: HaproxySection): readonly Listener[] {
  const binds = lines.filter(({ words }) => words[0] === 'bind').map(({ words }) => words.slice(1));
  // Old configurations have the address behind the name.
  const inline = head.words[2];
  if (inline !== undefined && /:\d+$/.test(inline)) binds.push([inline]);
  return binds.flatMap(([addresses = '', ...options]) =>
    addresses.split(',').map((address): Listener => {
      const port = Number(/:(\d{1,5})(?:-\d+)?$/.exec(address)?.[1] ?? 0);
      return { scheme: options.includes('ssl') || port === 443 ? 'https' : 'http', port };
    }),
  );
}

/** Reports a frontend that is not translated. */
function leave(state: HaproxyImport, section: HaproxySection): void {
  const entry = entryOf(state, section.head);
  const isOther = listenersOf(section).every(({ port }) => port !== 80 && port !== 443);
  if (isOther) markNeedless(entry, 'it listens on a port of its own, which the edge does not have');
  else
    markMissing(
      entry,
      'another frontend has the same port, and a file is made of one for http and one for https',
    );
}
