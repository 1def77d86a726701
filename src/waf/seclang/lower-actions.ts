/** Action lists as written → what a rule is and what its conditions do. */
import {
  WAF_TRANSFORMATIONS,
  type WafSetVar,
  type WafText,
  type WafTransformation,
} from '../../plan/signature-program.ts';
import type { WrittenAction } from './directives.ts';
import type { DraftControl } from './draft.ts';
import { type Lowered, lowerControl, lowerSetVar, type RuleFinder } from './lower-setvar.ts';
import { type OwnNames, readText } from './read-text.ts';
import { PASSED_ACTIONS } from './settings.ts';
import type { SecLangFinding } from './source.ts';

export const DISRUPTIONS = ['allow', 'allowPhase', 'block', 'deny', 'drop', 'pass'] as const;
export type WrittenDisruption = (typeof DISRUPTIONS)[number];

/** One action list, understood. What a list does not say is `null`. */
export interface LoweredActions {
  readonly phase: number | null;
  readonly disruption: WrittenDisruption | null;
  readonly skipAfter: string | null;
  readonly log: boolean | null;
  readonly message: WafText | null;
  readonly logData: WafText | null;
  readonly severity: number | null;
  readonly tags: readonly string[];
  readonly chained: boolean;
  readonly capture: boolean;
  readonly multiMatch: boolean;
  readonly chain: readonly WafTransformation[];
  readonly setVars: readonly WafSetVar[];
  readonly controls: readonly DraftControl[];
  readonly findings: readonly SecLangFinding[];
  readonly unsupported: readonly SecLangFinding[];
}

export interface ActionContext {
  readonly own: OwnNames;
  readonly rules: RuleFinder;
  /** Transformations that come before the list's own. */
  readonly inherited: readonly WafTransformation[];
}

type Building = { -readonly [K in keyof LoweredActions]: LoweredActions[K] } & {
  setVars: WafSetVar[];
  controls: DraftControl[];
  tags: string[];
  chain: WafTransformation[];
  findings: SecLangFinding[];
  unsupported: SecLangFinding[];
};

/** Understands a list. Where two actions say the same, the later one counts. */
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
    else if (!Object.hasOwn(PASSED_ACTIONS, name)) unknownAction(building, action);
  }
  return building;
}

/** ModSecurity's other actions (Reference Manual v3, "Actions"). */
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

function unknownAction({ findings }: Building, { name }: WrittenAction): void {
  if (OTHER_ACTIONS.has(name.toLowerCase())) {
    findings.push({
      message: 'this action cannot be done here',
      found: name,
      remedy: REMEDIES[name.toLowerCase()] ?? REMEDY,
    });
  } else {
    findings.push({ message: 'SecLang has no action of this name', found: name });
  }
}

const REMEDY = 'take it out of the rule';
const REMEDIES: Readonly<Record<string, string>> = {
  redirect: 'write `deny` here and a redirect as a rule of the domain',
  skip: 'write `skipAfter` and a marker',
};

type Handle = (building: Building, value: string, context: ActionContext) => void;

const disrupt =
  (disruption: WrittenDisruption): Handle =>
  (building) => {
    building.disruption = disruption;
  };

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

function take<T>(building: Building, { done, findings, unsupported }: Lowered<T>, into: T[]): void {
  building.findings.push(...findings);
  building.unsupported.push(...unsupported);
  if (done !== null) into.push(done);
}

function text(building: Building, value: string, own: OwnNames): WafText {
  const read = readText(value, own);
  building.unsupported.push(...read.findings);
  return read.text;
}

const TRANSFORMATIONS = new Map<string, WafTransformation>([
  ...WAF_TRANSFORMATIONS.map((name) => [name.toLowerCase(), name] as const),
  ['normalisepath', 'normalizePath'],
  ['normalisepathwin', 'normalizePathWin'],
]);

function addTransformation(building: Building, value: string): void {
  const name = value.toLowerCase();
  if (name === 'none') {
    building.chain.length = 0;
    return;
  }
  const transformation = TRANSFORMATIONS.get(name);
  if (transformation !== undefined) building.chain.push(transformation);
  else building.findings.push({ message: 'there is no such transformation here', found: `t:${value}` });
}

const SEVERITIES = ['EMERGENCY', 'ALERT', 'CRITICAL', 'ERROR', 'WARNING', 'NOTICE', 'INFO', 'DEBUG'] as const;

function readSeverity(value: string): number | null {
  if (/^[0-7]$/.test(value)) return Number(value);
  const index = (SEVERITIES as readonly string[]).indexOf(value.toUpperCase());
  return index === -1 ? null : index;
}

const PHASE_NAMES: Readonly<Record<string, number>> = { request: 2, response: 4, logging: 5 };

/** A phase's number; `null` when it is none. */
export function readPhase(value: string): number | null {
  if (/^[1-5]$/.test(value)) return Number(value);
  return PHASE_NAMES[value.toLowerCase()] ?? null;
}
