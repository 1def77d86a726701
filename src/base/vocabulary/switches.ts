/**
 * The boolean settings of a domain that nodes read, one entry each: its bit in a plan, its name at a node, what the
 * documents say, and the header that it adds. The form of a domain, the API, files, the compiler, plans and responses are
 * derived from it; the store has a column for each that a customer sets. Every switch is off by default.
 */

/** One switch. */
interface EdgeSwitch {
  /** In `meta`'s `switches` of a plan; below `MONITORED` (`engine/plan/layout.ts`), and never another one's again. */
  readonly bit: number;
  /** The name of the property at a node (`engine/evaluator/edge-settings.ts`). */
  readonly property: string;
  /** What it does, for the documents. */
  readonly meaning: string;
  /** A header of every response, which replaces the origin's. */
  readonly header?: readonly [name: string, value: string];
  /** Only a domain with an active plan may switch it on. */
  readonly needsPlan?: true;
}

/** Those that a customer sets, in the order of the documents. */
export const SETTING_SWITCHES = {
  sec_no_sniff: {
    bit: 1,
    property: 'noSniff',
    meaning: 'adds `X-Content-Type-Options: nosniff` to responses',
    header: ['X-Content-Type-Options', 'nosniff'],
  },
  sec_referrer_policy: {
    bit: 2,
    property: 'referrerPolicy',
    meaning: 'adds `Referrer-Policy: strict-origin-when-cross-origin` to responses',
    header: ['Referrer-Policy', 'strict-origin-when-cross-origin'],
  },
  sec_strip_headers: {
    bit: 4,
    property: 'stripHeaders',
    meaning: "removes headers that name the origin's software from responses",
  },
  markdown_for_agents: {
    bit: 8,
    property: 'markdownForAgents',
    meaning:
      'answers requests with `Accept: text/markdown` with a Markdown rendering of HTML pages; needs an active plan',
    needsPlan: true,
  },
} as const satisfies Readonly<Record<string, EdgeSwitch>>;

/** Those that a customer sets and that need an active plan. */
export const PAID_SWITCHES = (Object.keys(SETTING_SWITCHES) as (keyof typeof SETTING_SWITCHES)[]).filter(
  (name) => (SETTING_SWITCHES[name] as EdgeSwitch).needsPlan === true,
);

/** All switches of a plan; the last is what a subscription leaves out. */
export const EDGE_SWITCHES = {
  ...SETTING_SWITCHES,
  websockets_off: {
    bit: 16,
    property: 'webSocketsOff',
    meaning: 'answers WebSocket requests with 403',
  },
} as const satisfies Readonly<Record<string, EdgeSwitch>>;

type Switches = typeof EDGE_SWITCHES;

/** All switches as a list. */
export const SWITCH_LIST: readonly (EdgeSwitch & {
  readonly name: keyof Switches;
  readonly property: keyof SwitchValues;
})[] = (Object.keys(EDGE_SWITCHES) as (keyof Switches)[]).map((name) => ({ name, ...EDGE_SWITCHES[name] }));

/** The switches of one domain at a node, by their properties. */
export type SwitchValues = {
  readonly [Name in keyof Switches as Switches[Name]['property']]: boolean;
};
