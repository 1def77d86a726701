/** API keys that the origin does not get (semantics §15). In: the places of keys, the request. Out: changes of what is forwarded. */
import type { CredentialPlace } from '../../base/vocabulary/vocabulary.ts';
import type { HeaderChange } from './decision.ts';
import { type Facts, headerField } from './facts.ts';
import type { LoadedGateway } from './gateways.ts';
import type { Run } from './run.ts';
import { decodeQueryPart } from './values.ts';

/** Removes the places of API keys from the request. */
export function hideKeys({ sources }: LoadedGateway, facts: Facts, run: Run, changes: HeaderChange[]): void {
  const cookies = namesIn(sources, 'cookie');
  const parameters = namesIn(sources, 'query');
  for (const name of namesIn(sources, 'header')) changes.push({ op: 'remove', name, value: null });
  if (cookies.length > 0) {
    const rest = otherCookies(facts, cookies);
    changes.push(
      rest === ''
        ? { op: 'remove', name: 'cookie', value: null }
        : { op: 'set', name: 'cookie', value: rest },
    );
  }
  if (parameters.length > 0 && run.query !== null) run.query = otherParameters(run.query, parameters);
}

function namesIn(sources: LoadedGateway['sources'], place: CredentialPlace): readonly string[] {
  return sources.filter((source) => source.in === place).map(({ name }) => name);
}

/** The cookies of other names, as they were sent. */
function otherCookies({ request }: Facts, names: readonly string[]): string {
  const given = headerField(request, 'cookie');
  const lines = (Array.isArray(given) ? given : [given]).filter((line) => typeof line === 'string');
  return lines
    .join('; ')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !names.includes(nameOf(pair)))
    .join('; ');
}

/** The parameters of other names, as they were sent; `null`: none is left. */
function otherParameters(query: string, names: readonly string[]): string | null {
  const pairs = query.split('&').filter((pair) => !names.includes(decodeQueryPart(nameOf(pair))));
  return pairs.length === 0 ? null : pairs.join('&');
}

function nameOf(pair: string): string {
  const equals = pair.indexOf('=');
  return (equals < 0 ? pair : pair.slice(0, equals)).trim();
}
