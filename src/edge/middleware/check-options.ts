/** The kinds of the options of `createEdge`, which plain JavaScript may pass in any form. */
import { describeArgument, FUNCTION, OCTETS, type OptionKind } from '../../base/diagnostics/options.ts';

export const TEXT: OptionKind = { what: 'a string', is: (value) => typeof value === 'string' };
export const TEXTS: OptionKind = { what: 'a list of strings', is: Array.isArray, of: TEXT };
export const PLANS: OptionKind = {
  what: 'a list of sealed plans, each a Uint8Array',
  is: Array.isArray,
  of: OCTETS,
};
export const SIGNATURES: OptionKind = {
  what: 'a sealed signature program, a Uint8Array, or `null`',
  is: (value) => value === null || OCTETS.is(value),
};
export const SECRET: OptionKind = {
  what: 'a string or a Uint8Array',
  is: (value) => TEXT.is(value) || OCTETS.is(value),
};
export const COUNT: OptionKind = {
  what: 'a whole number above 0',
  is: (value) => Number.isSafeInteger(value) && Number(value) > 0,
};

/** The fields of `control`, each with what it is or how to get one; `trust` may be absent. */
const CONTROL_FIELDS: Readonly<Record<string, string>> = {
  url: "give the server's address, http://host:port",
  token: '`edgeplan node-token create NAME` makes one for this process, often put in EDGEPLAN_NODE_TOKEN',
  folder: 'name a folder that only this process uses',
  trust: '`edgeplan node-token create` prints it',
};

/** Fields that are `undefined` count as absent, as options do. */
export const CONTROL: OptionKind = {
  what: 'an object of url, token, folder and perhaps trust, each a string',
  is: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  fault(value) {
    const given = value as Readonly<Record<string, unknown>>;
    const unknown = Object.keys(given).find((name) => !Object.hasOwn(CONTROL_FIELDS, name));
    if (unknown !== undefined) {
      return `\`control\` has no field \`${unknown}\`; it has ${Object.keys(CONTROL_FIELDS).join(', ')}`;
    }
    for (const [name, remedy] of Object.entries(CONTROL_FIELDS)) {
      const field = given[name];
      if (TEXT.is(field) && field !== '') continue;
      if (field === undefined && name === 'trust') continue;
      const found = field === '' ? 'an empty one' : describeArgument(field);
      return `\`control.${name}\` must be a string, found ${found}; ${remedy}`;
    }
    return null;
  },
};

/** The listeners of both kinds of edge. */
export const LISTENERS = { onDecision: FUNCTION, onRefusal: FUNCTION, onFault: FUNCTION } as const;

/** @throws TypeError when the plan is no Uint8Array */
export function checkOctets(plan: unknown): void {
  if (!OCTETS.is(plan))
    throw new TypeError(`a sealed plan is ${OCTETS.what}, found ${describeArgument(plan)}`);
}
