/** Checks of what was read from JSON, put together from small ones. */

/** The place in a value that is not what it should be, `.rules[3].phase`, or `''` for all of it; `null`: all is well. */
export type ShapeCheck = (value: unknown) => string | null;

const WRONG = '';

/** A string. */
export const isText: ShapeCheck = (value) => (typeof value === 'string' ? null : WRONG);

/** `true` or `false`. */
export const isFlag: ShapeCheck = (value) => (typeof value === 'boolean' ? null : WRONG);

/** A whole number, both ends included. */
export function isWhole(least: number, most: number): ShapeCheck {
  return (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most ? null : WRONG;
}

/** One of a closed list of values. */
export function isOneOf(values: readonly unknown[]): ShapeCheck {
  return (value) => (values.includes(value) ? null : WRONG);
}

/** `null`, or what another check accepts. */
export function isNullOr(check: ShapeCheck): ShapeCheck {
  return (value) => (value === null ? null : check(value));
}

/** An array whose every entry another check accepts. */
export function isListOf(check: ShapeCheck): ShapeCheck {
  return (value) => {
    if (!Array.isArray(value)) return WRONG;
    for (let at = 0; at < value.length; at++) {
      const wrong = check(value[at]);
      if (wrong !== null) return `[${at}]${wrong}`;
    }
    return null;
  };
}

/** An object with at least these fields. */
export function hasFields(fields: Readonly<Record<string, ShapeCheck>>): ShapeCheck {
  const entries = Object.entries(fields);
  return (value) => {
    if (typeof value !== 'object' || value === null) return WRONG;
    for (const [name, check] of entries) {
      const wrong = check((value as Record<string, unknown>)[name]);
      if (wrong !== null) return `.${name}${wrong}`;
    }
    return null;
  };
}

/** An object of any fields. */
export function isRecordOf(check: ShapeCheck): ShapeCheck {
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return WRONG;
    for (const [name, one] of Object.entries(value)) {
      const wrong = check(one);
      if (wrong !== null) return `.${name}${wrong}`;
    }
    return null;
  };
}

/** An object whose `kind` determines its fields. */
export function isKindOf(kinds: Readonly<Record<string, Readonly<Record<string, ShapeCheck>>>>): ShapeCheck {
  const checks = new Map(Object.entries(kinds).map(([kind, fields]) => [kind, hasFields(fields)]));
  return (value) => {
    const kind = typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;
    const check = typeof kind === 'string' ? checks.get(kind) : undefined;
    return check === undefined ? '.kind' : check(value);
  };
}
