/**
 * Divides the paths of a server into regions, one for each `location`, so that each path is in the region of the location
 * that nginx chooses: exact, then the longest prefix if it is `^~`, then regexes in order, then the longest prefix.
 */
import {
  endsWithText,
  equalsText,
  regexText,
  startsWithText,
  type TextTest,
  withoutCase,
} from '../text-test.ts';
import type { NginxDirective } from './parse-nginx.ts';

/** A `location`, read. */
interface NginxLocation {
  readonly directive: NginxDirective;
  /** Blocks of the locations around it, the innermost first. */
  readonly outer: readonly (readonly NginxDirective[])[];
  readonly kind: 'exact' | 'prefix' | 'final prefix' | 'regex';
  /** The path; of a regex its source. */
  readonly text: string;
  /** The test of a regex; `null`: not RE2. */
  readonly test: TextTest | null;
}

/** The paths that one location answers. */
export interface NginxRegion {
  /** `null`: paths that no location matches. */
  readonly location: NginxDirective | null;
  /** Blocks of the locations around it, the innermost first; what they set is inherited. */
  readonly outer: readonly (readonly NginxDirective[])[];
  /** The prefix or the exact path; `null` for regexes. */
  readonly path: string | null;
  readonly kind: NginxLocation['kind'] | 'rest' | 'slash';
  readonly includes: readonly TextTest[] | null;
  readonly excludes: readonly TextTest[];
  /** In what the region differs from the location of nginx, a sentence each. */
  readonly differences: readonly string[];
}

/** A location that is not carried over, and why. */
export interface LostLocation {
  readonly directive: NginxDirective;
  readonly reason: string;
  /** At least its paths; empty: unknown. */
  readonly tests: readonly TextTest[];
}

/** The regions of a block. */
export interface NginxRegions {
  readonly regions: readonly NginxRegion[];
  readonly lost: readonly LostLocation[];
}

/** Directives that hand requests on, for which nginx adds a missing slash at the end of a location's path. */
const PASSES = ['proxy_pass', 'fastcgi_pass', 'uwsgi_pass', 'scgi_pass', 'memcached_pass', 'grpc_pass'];

/** Divides the paths of a server. */
export function regionsOf(block: readonly NginxDirective[]): NginxRegions {
  const lost: LostLocation[] = [];
  const locations = readLocations(block, [], lost);
  const slashes = addedSlashes(locations);
  return {
    regions: [
      ...locations.filter(isCarried).flatMap((location) => regionOf(location, locations, slashes)),
      ...slashes.map(slashRegion),
      ...restRegion(locations, slashes),
    ],
    lost: [...lost, ...locations.filter((one) => !isCarried(one)).map(lostOf)],
  };
}

/**
 * Reads the locations of a block. A prefix inside a prefix is chosen as if it were beside it, so that it is read so; nginx tries
 * regexes inside a location before those beside it, which no order of regions has.
 */
function readLocations(
  block: readonly NginxDirective[],
  outer: readonly (readonly NginxDirective[])[],
  lost: LostLocation[],
): readonly NginxLocation[] {
  const locations: NginxLocation[] = [];
  for (const directive of block) {
    // No path leads to a named location.
    if (directive.name !== 'location' || directive.args[0]?.startsWith('@') === true) continue;
    const location = { ...readLocation(directive), outer };
    const inner = readLocations(directive.block ?? [], [directive.block ?? [], ...outer], lost);
    const isStatic = location.kind !== 'regex' && inner.every(({ kind }) => kind !== 'regex');
    const settled = inner.map((one) =>
      location.kind === 'final prefix' && one.kind === 'prefix' ? { ...one, kind: location.kind } : one,
    );
    locations.push(location);
    if (isStatic) locations.push(...settled);
    else if (inner.length > 0) for (const one of inner) lost.push(lostInside(one, location));
  }
  return locations;
}

/** A location inside another that is not carried over; its paths are among those of the outer one. */
function lostInside({ directive }: NginxLocation, { kind, text, test }: NginxLocation): LostLocation {
  const tests =
    kind === 'regex'
      ? test === null
        ? []
        : [test]
      : [kind === 'exact' ? equalsText(text) : startsWithText(text)];
  return {
    directive,
    reason: 'a regex and the location around it are two tests of the path, which one rule cannot express',
    tests,
  };
}

function isCarried({ kind, test }: NginxLocation): boolean {
  return kind !== 'regex' || test !== null;
}

function lostOf({ directive, text }: NginxLocation): LostLocation {
  const reason = regexText(text);
  const wide = widenedRegex(text);
  return {
    directive,
    reason: typeof reason === 'string' ? reason : 'the pattern is refused',
    tests: wide === null ? [] : [withoutCase(wide)],
  };
}

/** A regex in RE2 syntax that matches at least what another matches: without look-around, back-references count as any text. */
function widenedRegex(source: string): TextTest | null {
  let text = source
    .replaceAll(/\\[1-9]/g, '.*')
    .replaceAll('(?>', '(?:')
    .replaceAll(/([*+?}])\+/g, '$1');
  for (let rounds = 0; rounds < 20; rounds++) {
    const next = text.replace(/\(\?<?[!=](?:[^()\\]|\\.)*\)/, '');
    if (next === text) break;
    text = next;
  }
  const test = regexText(text);
  return typeof test === 'string' || text === '' ? null : test;
}

function readLocation(directive: NginxDirective): Omit<NginxLocation, 'outer'> {
  const joined = directive.args.join(' ');
  const [, modifier = '', rest = ''] = /^(=|\^~|~\*|~)?\s*(.*)$/s.exec(joined)!;
  if (modifier === '=') return { directive, kind: 'exact', text: rest, test: null };
  if (modifier === '' || modifier === '^~') {
    return { directive, kind: modifier === '' ? 'prefix' : 'final prefix', text: rest, test: null };
  }
  return { directive, kind: 'regex', text: rest, test: pathRegex(rest, modifier === '~*') };
}

/** The test of a regex over paths, as literal text where it is one; `null`: not RE2. */
export function pathRegex(source: string, ignoreCase: boolean): TextTest | null {
  const test = regexText(source);
  if (typeof test === 'string') return null;
  if (ignoreCase) return withoutCase(test);
  return literalRegex(source) ?? test;
}

/** A regex that is a literal with anchors: `^/a$`, `^/a`, `\.php$`; `null` for others. */
function literalRegex(source: string): TextTest | null {
  const [, start, body = '', tail = ''] =
    /^(\^?)((?:[\w/~@:,;=&!"' -]|\\[./_-])*)(\$|\.\*\$?|\(\.\*\)\$?)?$/.exec(source) ?? [];
  if (start === undefined || body === '') return null;
  const text = body.replaceAll('\\', '');
  if (start === '^') return tail === '$' ? equalsText(text) : startsWithText(text);
  return tail === '$' ? endsWithText(text) : null;
}

/** The paths without a slash that nginx redirects to a location whose prefix ends in one and that passes requests on. */
function addedSlashes(locations: readonly NginxLocation[]): readonly NginxLocation[] {
  const taken = new Set(locations.filter(({ kind }) => kind !== 'regex').map(({ text }) => text));
  return locations.filter(({ kind, text, directive }) => {
    if (kind === 'regex' || text === '/' || !text.endsWith('/') || taken.has(text.slice(0, -1))) return false;
    return directive.block?.some(({ name }) => PASSES.includes(name)) === true;
  });
}

function slashRegion({ directive, outer, text }: NginxLocation): NginxRegion {
  const path = text.slice(0, -1);
  return {
    location: directive,
    outer,
    path,
    kind: 'slash',
    includes: [equalsText(path)],
    excludes: [],
    differences: [],
  };
}

/** The region of a location; none where its paths cannot be written. */
function regionOf(
  location: NginxLocation,
  all: readonly NginxLocation[],
  slashes: readonly NginxLocation[],
): readonly NginxRegion[] {
  const { directive, outer, kind, text, test } = location;
  const slashTests = slashes.map((one) => one.text.slice(0, -1));
  const exacts = [...all.filter((one) => one.kind === 'exact').map((one) => one.text), ...slashTests];
  const made = { location: directive, outer, kind };
  if (kind === 'exact') {
    return [{ ...made, path: text, includes: [equalsText(text)], excludes: [], differences: [] }];
  }
  const regexes = all.filter((one) => one.kind === 'regex');
  if (kind === 'regex') {
    const earlier = regexes.slice(0, regexes.indexOf(location));
    const finals = all.filter((one) => one.kind === 'final prefix');
    const holes = finals.flatMap((final) =>
      all.filter((one) => one.kind === 'prefix' && isInside(one, final)),
    );
    return [
      {
        ...made,
        path: null,
        includes: [test!],
        excludes: [
          ...exacts.map(equalsText),
          ...finals.map((one) => startsWithText(one.text)),
          ...earlier.flatMap((one) => (one.test === null ? [] : [one.test])),
        ],
        differences: [
          ...unreadable(earlier),
          ...holes.map(
            (hole) => `paths below \`${hole.text}\` are not among them, as they are inside a \`^~\` location`,
          ),
        ],
      },
    ];
  }
  const inside = all.filter((one) => isInside(one, location));
  const competing = kind === 'prefix' ? regexes : [];
  return [
    {
      ...made,
      path: text,
      includes: text === '/' ? null : [startsWithText(text)],
      excludes: [
        ...outermost(inside).map((one) => startsWithText(one.text)),
        ...exacts.filter((exact) => exact.startsWith(text) && !isBelow(exact, inside)).map(equalsText),
        ...competing.flatMap((one) => (one.test === null ? [] : [one.test])),
      ],
      differences: unreadable(competing),
    },
  ];
}

/** Whether a prefix is longer than another and starts with it. */
function isInside(one: NginxLocation, outer: NginxLocation): boolean {
  if (one === outer || one.kind === 'regex' || one.kind === 'exact') return false;
  return one.text.length > outer.text.length && one.text.startsWith(outer.text);
}

/** The prefixes that are inside no other of the list. */
function outermost(inside: readonly NginxLocation[]): readonly NginxLocation[] {
  return inside.filter((one) => !inside.some((other) => isInside(one, other)));
}

function isBelow(text: string, prefixes: readonly NginxLocation[]): boolean {
  return prefixes.some((one) => text.startsWith(one.text));
}

/** Regexes that RE2 refuses take paths away that the region then has. */
function unreadable(regexes: readonly NginxLocation[]): readonly string[] {
  return regexes.flatMap(({ test, text }) =>
    test === null
      ? [`paths that match \`${text}\` are among them, since that location is not carried over`]
      : [],
  );
}

/** The paths that no location matches; none when `location /` exists. */
function restRegion(
  locations: readonly NginxLocation[],
  slashes: readonly NginxLocation[],
): readonly NginxRegion[] {
  if (locations.some(({ kind, text }) => kind.endsWith('prefix') && text === '/')) return [];
  const prefixes = locations.filter(({ kind }) => kind.endsWith('prefix'));
  const regexes = locations.filter(({ kind }) => kind === 'regex');
  const exacts = [
    ...locations.filter(({ kind }) => kind === 'exact').map(({ text }) => text),
    ...slashes.map(({ text }) => text.slice(0, -1)),
  ];
  const excludes = [
    ...outermost(prefixes).map(({ text }) => startsWithText(text)),
    ...exacts.filter((text) => !isBelow(text, prefixes)).map(equalsText),
    ...regexes.flatMap(({ test }) => (test === null ? [] : [test])),
  ];
  return [
    {
      location: null,
      outer: [],
      path: '/',
      kind: 'rest',
      includes: null,
      excludes,
      differences: unreadable(regexes),
    },
  ];
}
