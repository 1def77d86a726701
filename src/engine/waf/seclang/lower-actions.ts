/** Lowers action lists to properties of a rule and actions of a condition. */
import {
  WAF_TRANSFORMATIONS,
  type WafSetVar,
  type WafText,
  type WafTransformation,
} from '../../plan/signature-program.ts';
import type { DraftControl, WrittenAction } from './draft.ts';
import { DOCUMENTING_ACTIONS, IGNORED_ACTIONS } from './ignored.ts';
import { type Lowered, lowerControl, lowerSetVar, type RuleFinder } from './lower-setvar.ts';
import { type OwnNames, readText } from './lower-targets.ts';
import type { SecLangFinding } from './source.ts';

/** The disruptive actions. */
export const DISRUPTIONS = ['allow', 'allowPhase', 'block', 'deny', 'drop', 'pass'] as const;
/** A disruptive action. */
export type WrittenDisruption = (typeof DISRUPTIONS)[number];

/** An interpreted action list; `null`: the list does not have the action. */
export interface LoweredActions {
  /** 1 to 5. */
  readonly phase: number | null;
  readonly disruption: WrittenDisruption | null;
  /** A marker. */
  readonly skipAfter: string | null;
  /** Whether a match is reported (`log`, `nolog`). */
  readonly log: boolean | null;
  /** `msg`. */
  readonly message: WafText | null;
  /** `logdata`. */
  readonly logData: WafText | null;
  /** 0 to 7. */
  readonly severity: number | null;
  /** `tag`, in order. */
  readonly tags: readonly string[];
  /** Whether the next directive belongs to the same chain. */
  readonly chained: boolean;
  /** Whether groups are captured to TX.0 to TX.9. */
  readonly capture: boolean;
  /** Whether the operator runs after each transformation. */
  readonly multiMatch: boolean;
  /** The transformations (`t`), in order. */
  readonly chain: readonly WafTransformation[];
  readonly setVars: readonly WafSetVar[];
  readonly controls: readonly DraftControl[];
  /** Errors in any case. */
  readonly findings: readonly SecLangFinding[];
  /** What is an error only if the rule remains in the program. */
  readonly unsupported: readonly SecLangFinding[];
}

/** The context needed to lower an action list. */
export interface ActionContext {
  /** The macros of the rule's own properties. */
  readonly own: OwnNames;
  readonly rules: RuleFinder;
  /** Transformations before those of the list. */
  readonly inherited: readonly WafTransformation[];
}

/** A list under construction. */
type Building = { -readonly [K in keyof LoweredActions]: LoweredActions[K] } & {
  setVars: WafSetVar[];
  controls: DraftControl[];
  tags: string[];
  chain: WafTransformation[];
  findings: SecLangFinding[];
  unsupported: SecLangFinding[];
};

/** Interprets a list; the last of several equal actions counts. */
export function lowerActions(actions: readonly WrittenAction[], context: ActionContext): LoweredActions {
  const building: Building = {
    phase: null,
    disruption: null,
    skipAfter: null,
    log: null,
    message: null,
    logData: null,
    severity: null,
    tags: [],
    chained: false,
    capture: false,
    multiMatch: false,
    chain: [...context.inherited],
    setVars: [],
    controls: [],
    findings: [],
    unsupported: [],
  };
  for (const action of actions) {
    const name = action.name.toLowerCase();
    const handle = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (handle !== undefined) handle(building, action.value ?? '', context);
    else if (!DOCUMENTING_ACTIONS.has(name) && !Object.hasOwn(IGNORED_ACTIONS, name))
      unknownAction(building, action);
  }
  return building;
}

/** ModSecurity's other actions (reference manual v3, "Actions"). */
const OTHER_ACTIONS: ReadonlySet<string> = new Set([
  'append',
  'exec',
  'pause',
  'prepend',
  'proxy',
  'redirect',
  'setenv',
  'skip',
  'xmlns',
]);

/** Reports an action that is not supported or unknown. */
function unknownAction({ findings }: Building, { name }: WrittenAction): void {
  if (OTHER_ACTIONS.has(name.toLowerCase())) {
    findings.push({
      message: 'this action is not supported',
      found: name,
      remedy: REMEDIES[name.toLowerCase()] ?? REMEDY,
    });
  } else {
    findings.push({ message: 'SecLang has no action of this name', found: name });
  }
}

/** Remedies for actions that are not supported. */
const REMEDY = 'take it out of the rule';
/** By action, a better remedy. */
const REMEDIES: Readonly<Record<string, string>> = {
  redirect: 'write `deny` here and a redirect as a rule of the domain',
  skip: 'write `skipAfter` and a marker',
};

/** Interprets one action. */
type Handle = (building: Building, value: string, context: ActionContext) => void;

/** The handler of a disruptive action. */
const disrupt =
  (disruption: WrittenDisruption): Handle =>
  (building) => {
    building.disruption = disruption;
  };

/** By name in lower case, the handler. */
const ACTIONS: Readonly<Record<string, Handle>> = {
  id: () => {},
  phase: (building, value) => {
    building.phase = readPhase(value);
    if (building.phase === null) {
      const remedy = 'write 1 for a request’s headers, 2 for its body';
      building.findings.push({ message: 'a phase is a number from 1 to 5', found: value, remedy });
    }
  },
  pass: disrupt('pass'),
  block: disrupt('block'),
  deny: disrupt('deny'),
  drop: disrupt('drop'),
  allow: (building, value) => {
    const scope = value.toLowerCase();
    if (scope === 'phase') {
      building.disruption = 'allowPhase';
    } else if (scope === '' || scope === 'request') {
      building.disruption = 'allow';
    } else {
      building.findings.push({
        message: '`allow` is for a `phase` or the `request`',
        found: `allow:${value}`,
      });
    }
  },
  skipafter: (building, value) => {
    building.skipAfter = value;
  },
  log: (building) => {
    building.log = true;
  },
  nolog: (building) => {
    building.log = false;
  },
  msg: (building, value, { own }) => {
    building.message = text(building, value, own);
  },
  logdata: (building, value, { own }) => {
    building.logData = text(building, value, own);
  },
  severity: (building, value) => {
    building.severity = readSeverity(value);
    if (building.severity === null) {
      const remedy = `write one of ${SEVERITIES.join(', ')}, or 0 to 7`;
      building.findings.push({ message: 'there is no such severity', found: value, remedy });
    }
  },
  tag: (building, value) => {
    building.tags.push(value);
  },
  chain: (building) => {
    building.chained = true;
  },
  capture: (building) => {
    building.capture = true;
  },
  multimatch: (building) => {
    building.multiMatch = true;
  },
  t: (building, value) => addTransformation(building, value),
  setvar: (building, value, { own }) => take(building, lowerSetVar(value, own), building.setVars),
  ctl: (building, value, { rules }) => take(building, lowerControl(value, rules), building.controls),
};

/** Adds the result of a `setvar` or `ctl` to a list. */
function take<T>(building: Building, { done, findings, unsupported }: Lowered<T>, into: T[]): void {
  building.findings.push(...findings);
  building.unsupported.push(...unsupported);
  if (done !== null) into.push(done);
}

/** Parses a text with macros. */
function text(building: Building, value: string, own: OwnNames): WafText {
  const read = readText(value, own);
  building.unsupported.push(...read.findings);
  return read.text;
}

/** By name in lower case, a transformation; with ModSecurity's alternative spellings. */
const TRANSFORMATIONS = new Map<string, WafTransformation>([
  ...WAF_TRANSFORMATIONS.map((name) => [name.toLowerCase(), name] as const),
  ['normalisepath', 'normalizePath'],
  ['normalisepathwin', 'normalizePathWin'],
]);

/** Adds a transformation; `t:none` removes those before it. */
function addTransformation(building: Building, value: string): void {
  const name = value.toLowerCase();
  if (name === 'none') {
    building.chain.length = 0;
    return;
  }
  const transformation = TRANSFORMATIONS.get(name);
  if (transformation !== undefined) building.chain.push(transformation);
  else building.findings.push({ message: 'this transformation is not supported', found: `t:${value}` });
}

/** The names of the severities 0 to 7 (syslog, RFC 5424 §6.2.1). */
const SEVERITIES = ['EMERGENCY', 'ALERT', 'CRITICAL', 'ERROR', 'WARNING', 'NOTICE', 'INFO', 'DEBUG'] as const;

/** Parses a severity by name or number; `null`: invalid. */
function readSeverity(value: string): number | null {
  if (/^[0-7]$/.test(value)) return Number(value);
  const index = (SEVERITIES as readonly string[]).indexOf(value.toUpperCase());
  return index === -1 ? null : index;
}

/** Names of phases that ModSecurity accepts. */
const PHASE_NAMES: Readonly<Record<string, number>> = { request: 2, response: 4, logging: 5 };

/** Parses a phase by name or number; `null`: invalid. */
export function readPhase(value: string): number | null {
  if (/^[1-5]$/.test(value)) return Number(value);
  return PHASE_NAMES[value.toLowerCase()] ?? null;
}
