/** What headers rules do to a message (semantics §14): the changes of all rules that act, with their values worked out. */
import type { HeadersRule } from '../../src/rules/model/types.ts';
import type { Facts } from './facts.ts';
import { claimOf } from './gateways.ts';
import type { HeaderChange } from './types.ts';

/** What values are made of. */
interface Made {
  readonly facts: Facts;
  /** Whether the rule that a tag names has tagged the request. */
  readonly isTagged: (entry: string) => boolean;
  /** The username of the consumer that a gateway has admitted; `null`: it is without one. */
  readonly consumer: string | null;
}

/** Names and values of one message have so many characters together; what would exceed it is left out. */
const MOST = 16_384;

/** The changes of one side, by the rules in their order; inside a rule `set`, `add`, `remove`. */
export function headerChanges(
  rules: readonly Pick<HeadersRule, 'request' | 'response'>[],
  side: 'request' | 'response',
  made: Made,
): readonly HeaderChange[] {
  const changes: HeaderChange[] = [];
  let characters = 0;
  for (const change of rules.flatMap((rule) => changesOf(rule[side], made))) {
    const size = change.op === 'remove' ? 0 : change.name.length + change.value!.length;
    if (characters + size > MOST) continue;
    characters += size;
    changes.push(change);
  }
  return changes;
}

function changesOf(side: HeadersRule['request'], made: Made): readonly HeaderChange[] {
  const { set = {}, add = {}, remove = [] } = side ?? {};
  return [
    ...Object.entries(set).map(([name, text]): HeaderChange => {
      const value = filledIn(text, made);
      return value === null ? { op: 'remove', name, value } : { op: 'set', name, value };
    }),
    ...Object.entries(add).flatMap(([name, text]): HeaderChange[] => {
      const value = filledIn(text, made);
      return value === null ? [] : [{ op: 'add', name, value }];
    }),
    ...remove.map((name): HeaderChange => ({ op: 'remove', name, value: null })),
  ];
}

/** The value, or `null` if it has a fact that is unknown. */
function filledIn(text: string, made: Made): string | null {
  let isUnset = false;
  const value = text.replace(/\$\$|\$\{([^}]+)\}/g, (written, name: string | undefined) => {
    if (name === undefined) return '$';
    const tag = /^tag\((.+)\)$/.exec(name)?.[1];
    const fact = tag === undefined ? factOf(name, made) : made.isTagged(tag) ? '1' : null;
    if (fact === null) isUnset = true;
    return fact ?? written;
  });
  return isUnset ? null : value;
}

function factOf(name: string, { facts, consumer }: Made): string | null {
  const claim = /^claim\((.+)\)$/.exec(name)?.[1];
  // Claims are those of a token that has named the consumer.
  if (claim !== undefined) return consumer === null ? null : token(claimOf(facts, claim));
  const { bot, country, host, ip, ja4, method, request, scheme } = facts;
  switch (name) {
    case 'client_ip':
      return ip === null ? null : addressText(ip);
    case 'client_country':
      return country;
    case 'host':
      return host;
    case 'scheme':
      return scheme;
    case 'method':
      return token(method);
    case 'request_id':
      return token(request.id);
    case 'ja4':
      return token(ja4);
    case 'bot_kind':
      return token(bot?.kind);
    case 'consumer':
      return token(consumer);
    default:
      throw new Error(`no variable ${name}`);
  }
}

/** What callers give as any value is a fact only if it is visible ASCII of at most 256 characters. */
function token(value: unknown): string | null {
  return typeof value === 'string' && /^[!-~]{1,256}$/.test(value) ? value : null;
}

/** Dotted, or as RFC 5952 writes it. */
function addressText({ family, bits }: NonNullable<Facts['ip']>): string {
  const size = family === 4 ? 8n : 16n;
  const count = family === 4 ? 4 : 8;
  const parts = Array.from({ length: count }, (_, index) => {
    return (bits >> (size * BigInt(count - 1 - index))) & ((1n << size) - 1n);
  });
  if (family === 4) return parts.join('.');
  const groups = parts.map((part) => part.toString(16)).join(':');
  return new URL(`http://[${groups}]/`).hostname.slice(1, -1);
}
