/**
 * Compares a value with a schema. In: a program (`program.ts`), opened once, and a value. Out: valid, or the first few places where it
 * is not. Steps are counted and bounded, so that no schema and no body takes longer than `MAX_STEPS` says.
 */
import { type BodyError, isDecided, type SchemaCheck, type SchemaRun, spend, wrong } from './comparison.ts';
import { isList, isMap, type NamedNode, type SchemaProgram, type SchemaStep } from './program.ts';
import type { JsonValue } from './read-value.ts';
import {
  countCheck,
  enumCheck,
  isScalar,
  keyIn,
  kindOf,
  numberCheck,
  OBJECT,
  typeCheck,
  withinCheck,
} from './scalars.ts';

/** `null`: it took more steps than the size of the body allows. */
export type Validity = readonly BodyError[] | null;

/** Maximum length, in characters, of a name of the schema in a detail. */
const MAX_NAME = 64;
/**
 * Maximum number of steps. A schema compared with a value is one, some 30 ns; 16 characters, and the parts of a key or of a long number,
 * are counted by their length. Of ordinary schemas a body of some kilobytes takes a hundred; only many branches of `anyOf` over one
 * value, and `anyOf` inside `anyOf` of one recursive schema, come to more.
 */
const MAX_STEPS = { base: 100_000, octet: 4 } as const;

/** Whether a text matches the pattern of a number. */
export type PatternMatcher = (pattern: number, text: string) => boolean;

/** A schema ready to compare. `octets`: those of the body. */
export type Validator = (value: JsonValue, octets: number) => Validity;

/** Opens a program. */
export function openProgram(program: SchemaProgram, matches: PatternMatcher): Validator {
  const checks: SchemaCheck[] = [];
  const nodes: Nodes = {
    matches,
    at: (number) => (number < 0 ? VALID : (checks[number] ?? ((value, run) => checks[number]!(value, run)))),
  };
  // PERF: nodes without others below come first, so that those above call them without a look-up.
  for (const [number, steps] of program.entries())
    if (steps.every(isScalar)) checks[number] = scalarCheck(steps, nodes);
  for (const [number, steps] of program.entries()) checks[number] ??= nodeCheck(steps, nodes);
  const root = nodes.at(0);
  return (value, octets) => {
    const steps = MAX_STEPS.base + MAX_STEPS.octet * octets;
    // PERF: most bodies are valid, and then no place is of use.
    const first: SchemaRun = { steps, errors: null, path: [] };
    const isValid = root(value, first);
    if (first.steps < 0) return null;
    if (isValid) return [];
    const errors: BodyError[] = [];
    const second: SchemaRun = { steps, errors, path: [] };
    root(value, second);
    return second.steps < 0 ? null : errors;
  };
}

interface Nodes {
  readonly matches: PatternMatcher;
  /** The check of a node, which may come later in the program. */
  at(number: number): SchemaCheck;
}

const VALID: SchemaCheck = () => true;

/** A node of scalar steps. Its steps are those of the node above. */
function scalarCheck(steps: readonly SchemaStep[], nodes: Nodes): SchemaCheck {
  const checks = steps.map((step) => checkOf(step, nodes));
  return checks.length === 1 ? checks[0]! : withinCheck(steps, allCheck(checks));
}

function nodeCheck(steps: readonly SchemaStep[], nodes: Nodes): SchemaCheck {
  const checks = steps.map((step) => checkOf(step, nodes));
  const every = checks.length === 1 ? checks[0]! : allCheck(checks);
  return objectCheck(steps, nodes, every) ?? ((value, run) => (--run.steps < 0 ? false : every(value, run)));
}

type StepOf<K extends SchemaStep[0]> = Extract<SchemaStep, readonly [K, ...unknown[]]>;

/**
 * A node that is an object with its members. Where the outcome alone counts: a look-up for each member of the schema, required or not,
 * in place of one for each member of the value; else `every`. `null`: the node has other steps.
 */
function objectCheck(steps: readonly SchemaStep[], nodes: Nodes, every: SchemaCheck): SchemaCheck | null {
  const find = <K extends SchemaStep[0]>(keyword: K) =>
    steps.find((step): step is StepOf<K> => step[0] === keyword);
  const [type, required, properties] = [find('type'), find('required'), find('properties')];
  const known = [type, required, properties].filter((step) => step !== undefined).length;
  if (properties === undefined || known !== steps.length || properties[2].length > 0) return null;
  const mask = type?.[1] ?? -1;
  const own = properties[1].map(([name, node]) => ({
    name,
    check: nodes.at(node),
    isRequired: required?.[1].includes(name) === true,
  }));
  const named = new Map(properties[1]);
  const more = (required?.[1] ?? []).filter((name) => !named.has(name));
  const others = nodes.at(properties[3]);
  const cost = (own.length + more.length) >> 2;
  return (value, run) => {
    if (--run.steps < 0) return false;
    if (run.errors !== null) return every(value, run);
    if (!isMap(value)) return (kindOf(value) & mask) !== 0;
    if ((OBJECT & mask) === 0) return false;
    run.steps -= cost;
    let count = 0;
    for (let index = 0; index < own.length; index++) {
      const { name, check, isRequired } = own[index]!;
      const member = value.get(name);
      if (member === undefined) {
        if (isRequired) return false;
        continue;
      }
      count++;
      if (!check(member, run)) return false;
    }
    for (const name of more) if (!value.has(name)) return false;
    if (others === VALID || count === value.size) return true;
    run.steps -= value.size >> 2;
    for (const [name, member] of value) if (!named.has(name) && !others(member, run)) return false;
    return true;
  };
}

/** The outcome alone. */
function quietly(check: SchemaCheck, value: JsonValue, run: SchemaRun): boolean {
  const { errors } = run;
  run.errors = null;
  const isValid = check(value, run);
  run.errors = errors;
  return isValid;
}

function below(check: SchemaCheck, value: JsonValue, run: SchemaRun, step: string | number): boolean {
  if (run.errors === null) return check(value, run);
  run.path.push(step);
  const isValid = check(value, run);
  run.path.pop();
  return isValid;
}

function checkOf(step: SchemaStep, nodes: Nodes): SchemaCheck {
  switch (step[0]) {
    case 'never':
      return (_value, run) => wrong(run, 'is not allowed');
    case 'type':
      return typeCheck(step[1]);
    case 'enum':
      return enumCheck(new Set(step[1]));
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
    case 'multipleOf':
      return numberCheck(step[0], step[1]);
    case 'pattern': {
      const number = step[1];
      return (value, run) => {
        if (typeof value !== 'string') return true;
        const isMatch = spend(run, value.length >> 4) && nodes.matches(number, value);
        return isMatch || wrong(run, 'must match the pattern of the schema');
      };
    }
    case 'uniqueItems':
      return uniqueItems;
    case 'items':
      return itemsCheck(step[1].map(nodes.at), nodes.at(step[2]));
    case 'contains':
      return containsCheck(nodes.at(step[1]), step[2], step[3]);
    case 'properties':
      return membersCheck(step, nodes);
    case 'propertyNames':
      return namesCheck(nodes.at(step[1]));
    case 'required':
      return requiredCheck(step[1]);
    case 'dependentRequired': {
      const entries = step[1].map(([name, names]) => [name, requiredCheck(names)] as const);
      return dependentCheck(entries);
    }
    case 'dependentSchemas':
      return dependentCheck(opened(step[1], nodes));
    case 'allOf':
      return allCheck(step[1].map(nodes.at));
    case 'anyOf':
    case 'oneOf':
      return someCheck(step[1].map(nodes.at), step[0] === 'oneOf');
    case 'not': {
      const check = nodes.at(step[1]);
      return (value, run) => !quietly(check, value, run) || wrong(run, 'must not match the schema of `not`');
    }
    case 'if': {
      const [condition, then, otherwise] = [nodes.at(step[1]), nodes.at(step[2]), nodes.at(step[3])];
      return (value, run) => (quietly(condition, value, run) ? then : otherwise)(value, run);
    }
    default:
      return countCheck(step[0], step[1]);
  }
}

function opened(entries: readonly NamedNode[], nodes: Nodes): readonly (readonly [string, SchemaCheck])[] {
  return entries.map(([name, node]) => [name, nodes.at(node)] as const);
}

function uniqueItems(value: JsonValue, run: SchemaRun): boolean {
  if (!isList(value)) return true;
  const keys = new Set<string>();
  for (const item of value) {
    if (run.steps < 0) return false;
    keys.add(keyIn(item, run));
  }
  return keys.size === value.length || wrong(run, 'must not have two equal items');
}

function itemsCheck(firsts: readonly SchemaCheck[], others: SchemaCheck): SchemaCheck {
  return (value, run) => {
    if (!isList(value)) return true;
    const most = others === VALID ? Math.min(value.length, firsts.length) : value.length;
    run.steps -= most >> 2;
    let isValid = true;
    for (let index = 0; index < most; index++) {
      if (below(firsts[index] ?? others, value[index]!, run, index)) continue;
      isValid = false;
      if (isDecided(run)) return false;
    }
    return isValid;
  };
}

function containsCheck(check: SchemaCheck, least: number, most: number): SchemaCheck {
  const range = most < 0 ? `at least ${least}` : `${least} to ${most}`;
  return (value, run) => {
    if (!isList(value)) return true;
    run.steps -= value.length;
    const count = value.filter((item) => quietly(check, item, run)).length;
    return (
      (count >= least && (most < 0 || count <= most)) ||
      wrong(run, `must have ${range} items of \`contains\``)
    );
  };
}

function membersCheck(
  [, members, patterns, rest]: Extract<SchemaStep, readonly ['properties', ...unknown[]]>,
  nodes: Nodes,
): SchemaCheck {
  const byName = new Map(opened(members, nodes));
  const byPattern = patterns.map(([pattern, node]) => [pattern, nodes.at(node)] as const);
  const others = nodes.at(rest);
  return (value, run) => {
    if (!isMap(value)) return true;
    run.steps -= value.size >> 2;
    let isValid = true;
    for (const [name, member] of value) {
      const own = byName.get(name);
      let isOther = own === undefined;
      if (own !== undefined && !below(own, member, run, name)) isValid = false;
      for (const [pattern, check] of byPattern) {
        if (!spend(run, 1 + (name.length >> 4))) return false;
        if (!nodes.matches(pattern, name)) continue;
        isOther = false;
        if (!below(check, member, run, name)) isValid = false;
      }
      if (isOther && others !== VALID && !below(others, member, run, name)) isValid = false;
      if (!isValid && isDecided(run)) return false;
    }
    return isValid;
  };
}

function namesCheck(check: SchemaCheck): SchemaCheck {
  return (value, run) => {
    if (!isMap(value)) return true;
    run.steps -= value.size >> 2;
    for (const name of value.keys())
      if (!quietly(check, name, run)) return wrong(run, 'has a member whose name is not allowed');
    return true;
  };
}

function requiredCheck(names: readonly string[]): SchemaCheck {
  return (value, run) => {
    if (!isMap(value)) return true;
    run.steps -= names.length >> 2;
    let isValid = true;
    for (const name of names) {
      if (value.has(name)) continue;
      isValid = wrong(run, `lacks the member \`${name.slice(0, MAX_NAME)}\``);
      if (isDecided(run)) return false;
    }
    return isValid;
  };
}

function dependentCheck(entries: readonly (readonly [string, SchemaCheck])[]): SchemaCheck {
  return (value, run) => {
    if (!isMap(value)) return true;
    run.steps -= entries.length >> 2;
    let isValid = true;
    for (const [name, check] of entries) if (value.has(name) && !check(value, run)) isValid = false;
    return isValid;
  };
}

function allCheck(checks: readonly SchemaCheck[]): SchemaCheck {
  const cost = checks.length >> 2;
  return (value, run) => {
    run.steps -= cost;
    let isValid = true;
    for (let index = 0; index < checks.length; index++) {
      if (checks[index]!(value, run)) continue;
      isValid = false;
      if (isDecided(run)) return false;
    }
    return isValid;
  };
}

function someCheck(checks: readonly SchemaCheck[], isOne: boolean): SchemaCheck {
  const detail = `must match ${isOne ? 'exactly one schema of `oneOf`' : 'a schema of `anyOf`'}`;
  const cost = checks.length >> 2;
  return (value, run) => {
    run.steps -= cost;
    let count = 0;
    for (const check of checks) {
      if (!quietly(check, value, run)) continue;
      count++;
      if (!isOne) return true;
      if (count > 1) break;
    }
    return count === 1 || wrong(run, detail);
  };
}
