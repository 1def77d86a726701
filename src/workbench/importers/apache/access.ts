/**
 * Access control of one folder or section: `Require`, `Order`, `Allow`, `Deny`, `Satisfy`. Out: the requests that it refuses. What
 * has no filter (names of hosts, passwords) counts as not granted, so that more is refused.
 */
import { type AddressSet, readAddresses, uniteAddresses } from '../addresses.ts';
import type { ImportedCondition } from '../filter.ts';
import { type ApacheImport, allOf, anyOf, EVERY, NEVER, notOf, unknownTest } from './context.ts';
import { readExpression } from './expressions.ts';
import type { ApacheDirective } from './parse-htaccess.ts';
import { testEnvironment } from './variables.ts';

/** Directives of access control. */
export const ACCESS_DIRECTIVES = [
  ...['require', 'requireall', 'requireany', 'requirenone', 'order', 'allow', 'deny', 'satisfy'],
  ...['authtype', 'authname', 'authuserfile', 'authgroupfile', 'limit', 'limitexcept'],
];

/** What a list of directives refuses. */
export interface AccessRefusal {
  /** By `Require`; `null`: that of the folder around holds. */
  readonly denied: ImportedCondition | null;
  /** By `Order`, `Allow` and `Deny`; `null`: those of the folder around hold. */
  readonly refused: ImportedCondition | null;
  /** `Satisfy`: the requests for which one of both suffices; `null`: that of the folder around holds. */
  readonly satisfy: ImportedCondition | null;
  /** Why more is refused than in the source. */
  readonly closings: readonly string[];
}

interface Reading {
  readonly state: ApacheImport;
  readonly closings: string[];
}

/** A directive, and the methods for which it holds. */
interface Limited {
  readonly directive: ApacheDirective;
  readonly methods: ImportedCondition;
}

/** Reads the directives of one folder or section. */
export function readAccess(state: ApacheImport, directives: readonly ApacheDirective[]): AccessRefusal {
  const reading: Reading = { state, closings: [] };
  const all = directives.flatMap((one) => limited(one, EVERY));
  const requires = all.filter(({ directive: { name } }) => name.startsWith('require'));
  const orders = all.filter(({ directive: { name } }) => ['order', 'allow', 'deny'].includes(name));
  const satisfying = all.filter(({ directive: { name } }) => name === 'satisfy');
  // A section with one of these directives has none of those around it.
  const isSilent = orders.length === 0 && satisfying.length === 0;
  const isAny = ({ directive: { args } }: Limited): boolean => args[0]?.toLowerCase() === 'any';
  return {
    denied: requires.length === 0 ? null : deniedBy(reading, requires),
    refused: isSilent ? null : orders.length === 0 ? NEVER : refusedBy(reading, orders),
    satisfy: isSilent ? null : anyOf(satisfying.filter(isAny).map(({ methods }) => methods)),
    closings: reading.closings,
  };
}

/** The directives of `<Limit>` and `<LimitExcept>` with their methods. */
function limited(directive: ApacheDirective, methods: ImportedCondition): readonly Limited[] {
  const { name, args, block } = directive;
  if (block === null || !name.startsWith('limit')) return [{ directive, methods }];
  const written = args.map((arg) => arg.toUpperCase());
  const values = written.includes('GET') ? [...new Set([...written, 'HEAD'])] : written;
  const listed: ImportedCondition = { kind: 'fact', fact: { member: 'methods', values, negated: false } };
  const own = allOf([methods, name === 'limit' ? listed : notOf(listed)]);
  return block.flatMap((one) => limited(one, own));
}

/** Requests that `Require` does not grant. Directives limited to methods leave the others alone. */
function deniedBy(reading: Reading, requires: readonly Limited[]): ImportedCondition {
  const always = requires.filter(({ methods }) => methods === EVERY).map(({ directive }) => directive);
  const limits = requires.filter(({ methods }) => methods !== EVERY);
  // Outside a container, one of them suffices.
  const granted = anyOf([
    ...always.map((one) => grantOf(reading, one)),
    ...limits.map(({ directive, methods }) => allOf([methods, grantOf(reading, directive)])),
  ]);
  if (always.length > 0) return notOf(granted);
  return allOf([anyOf(limits.map(({ methods }) => methods)), notOf(granted)]);
}

/** The requests that one `Require`, or one container of them, grants. */
function grantOf(reading: Reading, directive: ApacheDirective): ImportedCondition {
  const { name, block, args } = directive;
  if (block === null) return args[0]?.toLowerCase() === 'not' ? NEVER : requireOf(reading, args);
  const inner = block.filter((one) => one.name.startsWith('require'));
  if (name === 'requirenone') return notOf(anyOf(inner.map((one) => refusingOf(reading, one))));
  const isNegative = ({ name: own, args: [first], block: container }: ApacheDirective): boolean =>
    own === 'requirenone' || (container === null && first?.toLowerCase() === 'not');
  const positive = inner.filter((one) => !isNegative(one)).map((one) => grantOf(reading, one));
  if (name === 'requireany') return anyOf(positive);
  const negative = inner
    .filter(isNegative)
    .map((one) =>
      one.block === null
        ? refusingOf(reading, { ...one, args: one.args.slice(1) })
        : anyOf(one.block.map((each) => refusingOf(reading, each))),
    );
  return positive.length === 0 ? NEVER : allOf([...positive, notOf(anyOf(negative))]);
}

/** The requests that a `Require` names where it refuses them; what has no filter is unknown. */
function refusingOf(reading: Reading, { args, block, text }: ApacheDirective): ImportedCondition {
  if (block !== null) return unknownTest(text, 'is a container inside `<RequireNone>`');
  return requireOf({ ...reading, closings: [] }, args, true);
}

function requireOf(reading: Reading, args: readonly string[], isRefusing = false): ImportedCondition {
  const [kind = '', ...rest] = args;
  const shown = `Require ${args.join(' ')}`;
  switch (kind.toLowerCase()) {
    case 'all':
      return rest[0]?.toLowerCase() === 'granted' ? EVERY : NEVER;
    case 'ip':
      return addresses(rest) ?? lost(reading, shown, 'has an address that cannot be read', isRefusing);
    case 'local':
      return addresses(['127.0.0.0/8', '::1'])!;
    case 'method': {
      const values = rest.map((one) => one.toUpperCase());
      return {
        kind: 'fact',
        fact: {
          member: 'methods',
          values: values.includes('GET') ? [...new Set([...values, 'HEAD'])] : values,
          negated: false,
        },
      };
    }
    case 'env':
      return anyOf(rest.map((name) => testEnvironment(reading.state, name, null)));
    case 'expr': {
      const text = rest.join(' ').replace(/^expr=/, '');
      const { condition, isWide } = readExpression(reading.state, text);
      if (isWide && !isRefusing) return lost(reading, shown, 'has a part that is not exact', isRefusing);
      return condition.kind === 'unknown' ? lost(reading, shown, condition.reason, isRefusing) : condition;
    }
    case 'host':
    case 'forward-dns':
      return lost(
        reading,
        shown,
        'asks for the name of an address, which the edge does not resolve',
        isRefusing,
      );
    default:
      return lost(reading, shown, 'asks for a user, and the edge has no sign-in', isRefusing);
  }
}

/** A grant without a filter: nobody has it. A refusal without one stays unknown. */
function lost(reading: Reading, shown: string, reason: string, isRefusing: boolean): ImportedCondition {
  if (isRefusing) return unknownTest(shown, reason);
  reading.closings.push(`\`${shown}\` ${reason}`);
  return NEVER;
}

/** Addresses as Apache writes them: whole, networks with length or mask, the first parts of an IPv4 address. */
function addresses(written: readonly string[]): ImportedCondition | null {
  const sets = written.map(readApacheAddress);
  const known = sets.filter((set) => set !== null);
  return known.length < sets.length ? null : { kind: 'ip', addresses: uniteAddresses(known) };
}

function readApacheAddress(text: string): AddressSet | null {
  const [, address = text, mask] = /^([^/]+)\/((?:\d+\.){3}\d+)$/.exec(text) ?? [];
  if (mask !== undefined) {
    const bits = mask
      .split('.')
      .map((part) => Number(part).toString(2).padStart(8, '0'))
      .join('');
    return /^1*0*$/.test(bits) ? readAddresses(`${address}/${bits.replace(/0+$/, '').length}`) : null;
  }
  const parts = /^(?:\d{1,3}\.){0,2}\d{1,3}\.?$/.test(text) ? text.replace(/\.$/, '').split('.') : null;
  if (parts === null || parts.length > 3) return readAddresses(text);
  return readAddresses(`${[...parts, '0', '0', '0'].slice(0, 4).join('.')}/${parts.length * 8}`);
}

/** Requests that `Order`, `Allow` and `Deny` refuse. */
function refusedBy(reading: Reading, orders: readonly Limited[]): ImportedCondition {
  const everywhere = new Map<string, Limited[]>();
  for (const one of orders) {
    const key = JSON.stringify(one.methods);
    everywhere.set(key, [...(everywhere.get(key) ?? []), one]);
  }
  const groups = [...everywhere.values()];
  const limits = groups.map((own) => own[0]!.methods).filter((methods) => methods !== EVERY);
  const common = (everywhere.get(JSON.stringify(EVERY)) ?? []).map(({ directive }) => directive);
  return anyOf(
    groups.map((own) => {
      const { methods } = own[0]!;
      const list = own.map(({ directive }) => directive);
      if (methods === EVERY) return allOf([notOf(anyOf(limits)), refusedByList(reading, list)]);
      return allOf([methods, refusedByList(reading, [...common, ...list])]);
    }),
  );
}

function refusedByList(reading: Reading, directives: readonly ApacheDirective[]): ImportedCondition {
  const order =
    directives
      .findLast(({ name }) => name === 'order')
      ?.args.join('')
      .toLowerCase() ?? 'deny,allow';
  const listed = (name: string): ImportedCondition =>
    anyOf(
      directives
        .filter((one) => one.name === name)
        .flatMap(({ args }) => sourcesOf(reading, args, name === 'deny')),
    );
  const [allowed, refused] = [listed('allow'), listed('deny')];
  // The last of the order wins, and its default is its own.
  if (order === 'deny,allow') return allOf([refused, notOf(allowed)]);
  return notOf(allOf([allowed, notOf(refused)]));
}

/** What follows `from`. */
function sourcesOf(
  reading: Reading,
  args: readonly string[],
  isRefusing: boolean,
): readonly ImportedCondition[] {
  const [, ...sources] = args;
  return sources.map((source) => {
    const [, isUnset, name] = /^env=(!?)(.+)$/i.exec(source) ?? [];
    if (name !== undefined) {
      const isSet = testEnvironment(reading.state, name, null);
      return isUnset === '' ? isSet : notOf(isSet);
    }
    if (source.toLowerCase() === 'all') return EVERY;
    const set = readApacheAddress(source);
    if (set !== null) return { kind: 'ip', addresses: set };
    const shown = `${isRefusing ? 'Deny' : 'Allow'} from ${source}`;
    return lost(
      reading,
      shown,
      'asks for the name of an address, which the edge does not resolve',
      isRefusing,
    );
  });
}
