/** SecLang programs over few words, so that rules, variables and requests collide. */
import { WAF_TRANSFORMATIONS } from '../../src/engine/plan/signature-program.ts';
import type { InspectionExclusion, WafSettings } from '../../src/engine/waf/request/inspection.ts';
import { type Random, seeded } from './generate-random.ts';
import {
  COUNTS,
  MARKERS,
  MATCHED_SETS,
  MATCHED_TARGETS,
  OPERATORS,
  REQUEST_TARGETS,
  SCORE_STEMS,
  SET_VARS,
  STATE_TARGETS,
  TAGS,
  UNORDERED_TARGETS,
} from './generate-seclang-words.ts';

/** A text with the ids of its rules that are reported; set-up rules are part of the program, and are not excluded. */
export interface GeneratedProgram {
  readonly text: string;
  readonly reported: readonly number[];
}

const FIRST_ID = 100;
interface Writing {
  readonly random: Random;
  readonly scores: readonly string[];
  readonly reported: number[];
  /** Ids up to here are used. */
  last: number;
}

/** A program; the same seed gives the same one. */
export function generateSecLang(seed: number): GeneratedProgram {
  const random = seeded(seed);
  const writing: Writing = { random, scores: random.pick(SCORE_STEMS), reported: [], last: FIRST_ID };
  const lines = random.times(4 + random.int(9), () => writeStatement(writing));
  const subject = (): number => FIRST_ID + 1 + random.int(writing.last - FIRST_ID);
  const amendments = random.times(random.int(3), () => writeAmendment(random, subject()));
  const text = [...writeSetup(random, writing.scores), ...lines, ...amendments].join('\n');
  return { text, reported: writing.reported };
}

function writeSetup(random: Random, scores: readonly string[]): readonly string[] {
  const setVars = [
    'tx.k=ab',
    'tx.one=1',
    'tx.five=5',
    ...(random.chance(0.5) ? scores.map((name) => `tx.${name}=${random.pick(['0', '0', '1'])}`) : []),
    // Defaults of a text, which the level and the threshold given from outside make void.
    ...(random.chance(0.3) ? ['tx.detection_paranoia_level=3', 'tx.inbound_anomaly_score_threshold=99'] : []),
  ];
  const defaults = [
    'SecDefaultAction "phase:1,log,pass"',
    'SecDefaultAction "phase:2,log,deny"',
    'SecDefaultAction "phase:2,nolog,pass,t:lowercase"',
  ];
  return [
    ...(random.chance(0.4) ? [random.pick(defaults)] : []),
    `SecAction "id:1,phase:1,pass,nolog,t:none,${setVars.map((one) => `setvar:'${one}'`).join()}"`,
  ];
}

function writeStatement(writing: Writing): string {
  const { random } = writing;
  if (random.chance(0.12)) return `SecMarker ${random.pick(MARKERS.slice(0, 2))}`;
  if (random.chance(0.1)) {
    const level = 1 + random.int(4);
    const phase = 1 + random.int(2);
    const id = ++writing.last;
    const operator = random.pick([`@lt ${level}`, `!@ge ${level}`, `@eq ${level}`]);
    return `SecRule TX:DETECTION_PARANOIA_LEVEL "${operator}" "id:${id},phase:${phase},pass,nolog,skipAfter:${random.pick(MARKERS)}"`;
  }
  if (random.chance(0.12)) return writeQuiet(writing);
  return writeRule(writing);
}

/** A rule that only prepares others, often one that no request has a say in. */
function writeQuiet(writing: Writing): string {
  const { random } = writing;
  const setVars = [
    ...random.some(SET_VARS, 2),
    `tx.${random.pick(writing.scores)}=+${random.pick(['2', '%{tx.n}'])}`,
  ];
  const actions = random.some(setVars, 2).map((one) => `setvar:'${one}'`);
  if (random.chance(0.2)) actions.push(`ctl:ruleRemoveById=${writing.last + 2}`);
  if (random.chance(0.15)) actions.push(`skipAfter:${random.pick(MARKERS)}`);
  const list = [
    `id:${++writing.last}`,
    `phase:${1 + random.int(2)}`,
    'pass',
    'nolog',
    't:none',
    ...actions,
  ].join();
  if (random.chance(0.5)) return `SecAction "${list}"`;
  const condition = random.pick([
    '&TX:a "@eq 0"',
    'TX:k "@streq ab"',
    'TX:n "!@ge 2"',
    '&TX:x-a "@ge 1"',
    'TX:a "@rx ^a"',
  ]);
  return `SecRule ${condition} "${list}"`;
}

function writeRule(writing: Writing): string {
  const { random } = writing;
  const id = ++writing.last;
  const phase = 1 + random.int(2);
  const links = random.pick([1, 1, 1, 1, 2, 2, 3]);
  const kind = random.chance(0.08) ? 'unordered' : 'plain';
  const lines = random.times(links, (index) => {
    const head = index === 0 ? headOf(writing, { id, phase }) : [];
    const chain = index < links - 1 ? ['chain'] : [];
    const actions = [...head, ...actionsOf(writing, { kind, phase }), ...chain].join();
    if (random.chance(0.07)) return `SecAction "${actions === '' ? 't:none' : actions}"`;
    const targets = random.times(random.pick([1, 1, 2]), () => targetOf(random, kind, index)).join('|');
    return `SecRule ${targets} "${operatorOf(random, kind)}"${actions === '' ? '' : ` "${actions}"`}`;
  });
  return lines.join('\n  ');
}

function headOf(writing: Writing, { id, phase }: { readonly id: number; readonly phase: number }): string[] {
  const { random, reported } = writing;
  const disruption = random.pick([
    'pass',
    'pass',
    'block',
    'block',
    'block',
    'deny',
    'drop',
    'allow',
    'allow:phase',
    '',
  ]);
  const head = [`id:${id}`, `phase:${phase}`, `msg:'m${id % 3}'`];
  if (disruption !== '' && (random.chance(0.4) || !/allow|deny|drop/.test(disruption))) head.push(disruption);
  if (random.chance(0.7)) {
    head.push(
      'log',
      ...random.some(TAGS, 2).map((tag) => `tag:'${tag}'`),
      `severity:${random.pick(['CRITICAL', '4'])}`,
    );
    reported.push(id);
  } else if (random.chance(0.75)) head.push('nolog');
  if (random.chance(0.15)) head.push(`skipAfter:${random.pick(MARKERS)}`);
  return head;
}

function actionsOf(
  { random, scores, last }: Writing,
  { kind, phase }: { readonly kind: 'plain' | 'unordered'; readonly phase: number },
): string[] {
  const actions: string[] = [];
  if (random.chance(0.3)) actions.push('t:none');
  if (random.chance(0.4)) actions.push(...random.some(WAF_TRANSFORMATIONS, 3).map((name) => `t:${name}`));
  if (random.chance(0.15)) actions.push('multiMatch');
  if (random.chance(0.3) && kind === 'plain') actions.push('capture');
  const setVars = kind === 'plain' ? SET_VARS : COUNTS;
  if (random.chance(0.3)) actions.push(...random.some(setVars, 2).map((one) => `setvar:'${one}'`));
  if (random.chance(0.5)) {
    const by = random.pick(
      ['+5', '+%{tx.five}', '+1', '+%{tx.n}', '-1', '=3'].slice(0, kind === 'plain' ? 6 : 3),
    );
    actions.push(`setvar:'tx.${random.pick(scores)}=${by.replace(/^=/, '')}'`);
  }
  if (random.chance(0.12)) actions.push(`ctl:${controlOf(random, { phase, id: last + random.int(4) - 1 })}`);
  return actions;
}

function controlOf(random: Random, { phase, id }: { readonly phase: number; readonly id: number }): string {
  return random.pick([
    `ruleRemoveById=${id}`,
    `ruleRemoveById=${id}-${id + 2}`,
    `ruleRemoveByTag=${random.pick(['attack-sqli', '^group/', 'attack'])}`,
    `ruleRemoveByMsg=${random.pick(['m1', '^m[02]$'])}`,
    `ruleRemoveTargetById=${id};ARGS:a`,
    `ruleRemoveTargetById=${id}-${id + 3};REQUEST_HEADERS:/^x-/`,
    `ruleRemoveTargetByTag=attack-xss;ARGS`,
    `ruleRemoveTargetById=${id};TX:a`,
    'forceRequestBodyVariable=On',
    `ruleEngine=${random.pick(['Off', 'DetectionOnly', 'On'])}`,
    ...(phase === 1
      ? ['requestBodyProcessor=JSON', 'requestBodyProcessor=URLENCODED', 'requestBodyProcessor=XML']
      : []),
  ]);
}

function targetOf(random: Random, kind: 'plain' | 'unordered', index: number): string {
  if (kind === 'unordered' && random.chance(0.7)) return random.pick(UNORDERED_TARGETS);
  if (index > 0 && random.chance(0.3)) {
    return random.pick(kind === 'plain' ? [...MATCHED_TARGETS, ...MATCHED_SETS] : MATCHED_SETS);
  }
  return random.pick(random.chance(0.25) ? STATE_TARGETS : REQUEST_TARGETS);
}

function operatorOf(random: Random, kind: 'plain' | 'unordered'): string {
  const constant = OPERATORS.filter((one) => !one.includes('%{') || one.includes('tx.k'));
  const operator = random.pick(kind === 'plain' ? OPERATORS : constant);
  return operator.startsWith('@') && random.chance(0.2) ? `!${operator}` : operator;
}

function writeAmendment(random: Random, id: number): string {
  return random.pick([
    `SecRuleRemoveById ${id}`,
    `SecRuleRemoveById ${id}-${id + 1}`,
    'SecRuleRemoveByTag "^group/b$"',
    'SecRuleRemoveByMsg m2',
    `SecRuleUpdateTargetById ${id} "!ARGS:a"`,
    `SecRuleUpdateTargetById ${id}-${id + 2} "!REQUEST_HEADERS:X-A|REQUEST_URI"`,
    'SecRuleUpdateTargetByTag attack-xss "!ARGS:/^a/"',
    'SecRuleUpdateTargetByMsg m1 "ARGS_NAMES"',
    `SecRuleUpdateActionById ${id} "t:lowercase,setvar:tx.b=+1"`,
    `SecRuleUpdateActionById ${id} "pass,t:none"`,
  ]);
}

/** Settings that exclude now a signature, now a target of one. */
export function generateSettings(random: Random, { reported }: GeneratedProgram): WafSettings {
  const subject = (): Pick<InspectionExclusion, 'id' | 'tag'> =>
    random.chance(0.3) || reported.length === 0
      ? { id: null, tag: random.pick(TAGS) }
      : { id: random.pick(reported), tag: null };
  const target = (): string | null =>
    random.pick([null, 'ARGS', 'ARGS:a', 'REQUEST_COOKIES:sid', 'REQUEST_HEADERS:x-a']);
  return {
    paranoia: 1 + random.int(4),
    threshold: random.pick([5, 5, 10, 1]),
    excludes: random.chance(0.1) && reported.length > 0 ? [String(random.pick(reported)), '999'] : [],
    exclusions: random.chance(0.15) ? [{ ...subject(), target: target() }] : [],
  };
}
