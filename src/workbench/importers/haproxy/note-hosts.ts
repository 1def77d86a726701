/** Finds the hosts that a configuration names before it is translated: redirects are written for each of them. */
import { ALWAYS, type HaproxyImport } from './context.ts';
import { hostName } from './host-names.ts';
import { formatPieces } from './log-format.ts';
import { mapEntries } from './maps.ts';
import type { HaproxySection } from './parse-haproxy.ts';
import { type HaproxyContext, readCriterion } from './read-criterion.ts';
import { createWalk } from './walk-section.ts';

/** Notes the hosts of ACLs, of anonymous ACLs and of the keys of maps. */
export function noteHosts(state: HaproxyImport): void {
  for (const section of state.sections) {
    if (!['defaults', 'frontend', 'backend', 'listen'].includes(section.kind)) continue;
    const context: HaproxyContext = {
      state,
      walk: createWalk(section, ALWAYS),
      isGuard: false,
      differences: [],
    };
    noteSection(context, section);
  }
}

function noteSection(context: HaproxyContext, { lines }: HaproxySection): void {
  for (const { words } of lines) {
    if (words[0] === 'acl') readCriterion(context, words.slice(2));
    for (const [at, word] of words.entries()) {
      if (/^!?\{$/.test(word)) readCriterion(context, words.slice(at + 1, words.indexOf('}', at)));
    }
    if (words[0] !== 'use_backend' && !words.includes('redirect')) continue;
    for (const word of words) {
      const pieces = word.includes('%[') ? formatPieces(word) : [];
      if (typeof pieces === 'string') continue;
      for (const piece of pieces) {
        if (piece.kind === 'sample') mapEntries(context, piece.calls);
        if (piece.kind === 'host' && words[0] === 'use_backend') noteBackends(context.state);
      }
    }
  }
}

/** Backends that are named by their host. */
function noteBackends({ sections, hosts }: HaproxyImport): void {
  for (const { kind, name } of sections) {
    const host = kind === 'backend' ? hostName(name) : null;
    if (host !== null) hosts.add(host);
  }
}
