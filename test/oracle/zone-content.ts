/**
 * The naive reading of what a managed domain's zone contains: name by name, each question answered by looking at every
 * record again. Rows carry what their spelling means, so that nothing of the reader under test is used here.
 */

/** A stored record as it was generated. */
export interface NaiveRow {
  /** Absolute, lower case, ASCII. `null`: the stored name is invalid. */
  readonly owner: string | null;
  readonly type: string;
  /** The data as `zoneLines` writes it; of CNAME and ALIAS the target. `null`: the stored data is invalid. */
  readonly data: string | null;
  readonly proxied: boolean;
}

export interface NaiveZoneInput {
  readonly domain: string;
  readonly rows: readonly NaiveRow[];
  readonly nameservers: readonly string[];
  readonly edge: readonly string[];
  readonly issuers: readonly string[];
  addressesOf(target: string): readonly string[] | null;
}

export interface NaiveZone {
  /** `<name> <ttl> <type> <data>`, sorted, each once. */
  readonly lines: readonly string[];
  /** `<name> <type>` of each record that is not served, or not completely, sorted. */
  readonly problems: readonly string[];
  readonly targets: readonly string[];
}

interface Found {
  readonly addresses: readonly string[];
  readonly external: boolean;
  readonly complete: boolean;
}

const NOTHING: Found = { addresses: [], external: false, complete: false };
const EDGE_TYPES = ['A', 'AAAA', 'CNAME', 'ALIAS'];
const ALIAS_TYPES = ['CNAME', 'ALIAS'];

export function naiveZone(input: NaiveZoneInput): NaiveZone {
  const { domain, rows } = input;
  const lines = new Set(input.nameservers.map((name) => `${domain} 300 NS ${name}`));
  const problems = rows.filter(({ owner }) => owner === null).map(({ type }) => `? ${type}`);
  const targets: string[] = [];
  const owners = [...new Set(rows.map(({ owner }) => owner).filter((owner) => owner !== null))];

  const at = (name: string): readonly NaiveRow[] => rows.filter(({ owner }) => owner === name);
  const isProxied = (name: string): boolean =>
    at(name).some(({ type, proxied }) => proxied && EDGE_TYPES.includes(type));
  const isLeftOut = ({ owner, type }: NaiveRow): boolean =>
    type === 'NS' && (owner === domain || owner?.startsWith('*.') === true);
  /** The rows of a name that resolvers could see. */
  const served = (name: string): readonly NaiveRow[] =>
    at(name).filter(
      (row) => row.data !== null && !isLeftOut(row) && !(isProxied(name) && EDGE_TYPES.includes(row.type)),
    );
  const aliasesAt = (name: string): readonly NaiveRow[] => {
    const all = served(name).filter(({ type }) => ALIAS_TYPES.includes(type));
    return all.filter(
      (row, place) => all.findIndex(({ type, data }) => type === row.type && data === row.data) === place,
    );
  };
  const addressesAt = (name: string): readonly string[] =>
    served(name).flatMap(({ type, data }) => (type === 'A' || type === 'AAAA' ? [data!] : []));
  const exists = (name: string): boolean =>
    name === domain || owners.some((owner) => owner === name || owner.endsWith(`.${name}`));

  /** The name whose records answer for a name of the zone. */
  const answering = (name: string): string | null => {
    if (exists(name)) return owners.includes(name) ? name : null;
    let encloser = name;
    while (!exists(encloser)) encloser = encloser.slice(encloser.indexOf('.') + 1);
    return owners.includes(`*.${encloser}`) ? `*.${encloser}` : null;
  };
  const isDelegated = (name: string): boolean =>
    owners.some(
      (owner) =>
        owner !== domain &&
        (owner === name || name.endsWith(`.${owner}`)) &&
        served(owner).some(({ type }) => type === 'NS'),
    );

  const outside = (target: string): Found => {
    if (!targets.includes(target)) {
      if (targets.length >= 50) return NOTHING;
      targets.push(target);
    }
    const addresses = firstTwenty(input.addressesOf(target) ?? []);
    return { addresses, external: true, complete: addresses.length > 0 };
  };
  /** `steps`: aliases that may still be followed behind this target. */
  const follow = (target: string, steps: number): Found => {
    const own = target === domain || target.endsWith(`.${domain}`);
    if (!own || isDelegated(target)) return outside(target);
    const name = answering(target);
    if (name === null) return NOTHING;
    if (isProxied(name)) return { addresses: input.edge, external: false, complete: true };
    const aliases = aliasesAt(name);
    if (aliases.length > 0 && steps === 0) return NOTHING;
    const behind = aliases.map(({ data }) => follow(data!, steps - 1));
    const addresses = firstTwenty([...addressesAt(name), ...behind.flatMap((found) => found.addresses)]);
    return {
      addresses,
      external: behind.some(({ external }) => external),
      complete: addresses.length > 0 && behind.every(({ complete }) => complete),
    };
  };

  const familyOf = (address: string): string => (address.includes(':') ? 'AAAA' : 'A');
  for (const name of owners) {
    for (const row of at(name)) {
      const hidden = isProxied(name) && EDGE_TYPES.includes(row.type);
      if (!hidden && (row.data === null || isLeftOut(row))) problems.push(`${name} ${row.type}`);
    }
    const others = served(name).filter(({ type }) => !EDGE_TYPES.includes(type));
    for (const { type, data } of others) lines.add(`${name} 300 ${type} ${data}`);
    for (const tag of ['issue', 'issuewild']) {
      if (!others.some(({ type, data }) => type === 'CAA' && data!.split(' ')[1] === tag)) continue;
      for (const issuer of input.issuers) lines.add(`${name} 300 CAA 0 ${tag} ${issuer}`);
    }
    if (isProxied(name)) {
      for (const address of input.edge) lines.add(`${name} 300 ${familyOf(address)} ${address}`);
      continue;
    }
    const aliases = aliasesAt(name);
    const alone = aliases.length === 1 && served(name).every(({ type }) => type === 'CNAME');
    if (alone && name !== domain) {
      lines.add(`${name} 300 CNAME ${aliases[0]!.data}`);
      continue;
    }
    const found = aliases.map(({ type, data }) => ({ type, ...follow(data!, 8) }));
    const ttl = found.some(({ external }) => external) ? 60 : 300;
    for (const address of [...addressesAt(name), ...found.flatMap(({ addresses }) => addresses)]) {
      lines.add(`${name} ${ttl} ${familyOf(address)} ${address}`);
    }
    for (const { type, complete } of found) if (!complete) problems.push(`${name} ${type}`);
  }
  return { lines: [...lines].sort(), problems: problems.sort(), targets };
}

/** Of each family the twenty lowest, as numbers. */
function firstTwenty(addresses: readonly string[]): readonly string[] {
  const sorted = [...new Set(addresses)].sort((left, right) => (number(left) < number(right) ? -1 : 1));
  const of = (colon: boolean): readonly string[] =>
    sorted.filter((address) => address.includes(':') === colon).slice(0, 20);
  return [...of(false), ...of(true)];
}

function number(address: string): bigint {
  if (!address.includes(':')) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string): readonly string[] => (text === '' ? [] : text.split(':'));
  const zeros = Array.from({ length: 8 - groups(head).length - groups(tail).length }, () => '0');
  const all = address.includes('::') ? [...groups(head), ...zeros, ...groups(tail)] : groups(address);
  return all.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}
