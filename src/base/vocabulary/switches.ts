/**
 * The boolean settings of a domain that nodes read: the bit of each in a plan, its name at a node, the header that it adds,
 * and what forms and documents say. The form of a domain, the API, files, the compiler, plans and responses are derived
 * from them; the store has a column for each that a customer sets. Every switch is off by default.
 */

/** One switch, as plans and nodes have it. */
interface EdgeSwitch {
  /** In `meta`'s `switches` of a plan; below `MONITORED` (`engine/plan/layout.ts`), and never another one's again. */
  readonly bit: number;
  /** The name of the property at a node (`engine/evaluator/edge-settings.ts`). */
  readonly property: string;
}

/** The switches, in the order of plans. */
const EDGE_SWITCHES = {
  sec_no_sniff: { bit: 1, property: 'noSniff' },
  sec_referrer_policy: { bit: 2, property: 'referrerPolicy' },
  sec_strip_headers: { bit: 4, property: 'stripHeaders' },
  markdown_for_agents: { bit: 8, property: 'markdownForAgents' },
  websockets_off: { bit: 16, property: 'webSocketsOff' },
} as const satisfies Readonly<Record<string, EdgeSwitch>>;

type Switches = typeof EDGE_SWITCHES;

/** The headers that switches add to every response; each replaces the origin's. Apart: the evaluator has none of them. */
export const SWITCH_HEADERS: {
  readonly [Name in keyof Switches]?: { readonly name: string; readonly value: string };
} = {
  sec_no_sniff: { name: 'X-Content-Type-Options', value: 'nosniff' },
  sec_referrer_policy: { name: 'Referrer-Policy', value: 'strict-origin-when-cross-origin' },
};

/** Those that the subscription of a domain decides. */
type BoughtSwitch = 'websockets_off';

/** One switch, as a customer sets it. */
interface SwitchForm {
  /** What it does, for the documents. */
  readonly meaning: string;
  /** Only a domain with an active plan may switch it on. */
  readonly needsPlan?: true;
}

/** The switches that a customer sets, in the order of the documents. Apart from the others: no node has these texts. */
export const SETTING_SWITCHES: { readonly [Name in Exclude<keyof Switches, BoughtSwitch>]: SwitchForm } = {
  sec_no_sniff: { meaning: 'adds `X-Content-Type-Options: nosniff` to responses' },
  sec_referrer_policy: { meaning: 'adds `Referrer-Policy: strict-origin-when-cross-origin` to responses' },
  sec_strip_headers: { meaning: "removes headers that name the origin's software from responses" },
  markdown_for_agents: {
    meaning:
      'answers requests with `Accept: text/markdown` with a Markdown rendering of HTML pages; needs an active plan',
    needsPlan: true,
  },
};

/** The switches that a subscription decides. */
export const BOUGHT_SWITCHES: { readonly [Name in BoughtSwitch]: SwitchForm } = {
  websockets_off: { meaning: 'answers WebSocket requests with 403' },
};

/** All switches as a list. */
export const SWITCH_LIST: readonly (EdgeSwitch & {
  readonly name: keyof Switches;
  readonly property: keyof SwitchValues;
})[] = (Object.keys(EDGE_SWITCHES) as (keyof Switches)[]).map((name) => ({ name, ...EDGE_SWITCHES[name] }));

/** The switches of one domain at a node, by their properties. */
export type SwitchValues = {
  readonly [Name in keyof Switches as Switches[Name]['property']]: boolean;
};
