/** Programs on which the compiled signatures and the interpreter once disagreed, with what both now come to. */
import { expect, test } from 'vitest';
import { loadSignatures } from '../../src/engine/waf/load/load.ts';
import type { WafSettings } from '../../src/engine/waf/request/inspection.ts';
import { compileSignatures } from '../../src/engine/waf/seclang/compile.ts';
import { interpretSecLang } from '../oracle/seclang/inspect.ts';
import { input, type Sent } from '../support/signatures.ts';

interface Case {
  readonly what: string;
  readonly text: string;
  readonly sent: Sent;
  readonly settings?: Partial<WafSettings>;
  readonly score: number;
  readonly ids?: readonly number[];
  readonly denied?: boolean;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const ADD = "setvar:'tx.anomaly_score=+1'";

const CASES: readonly Case[] = [
  {
    what: 'a control of a rule is for the rules it names, also while its own rule goes on',
    text: `SecRule ARGS "@rx a" "id:1,phase:1,nolog,${ADD},ctl:ruleRemoveTargetByTag=other;ARGS"`,
    sent: { target: '/?x=a&y=a' },
    score: 2,
  },
  {
    what: 'a control that names its own rule comes too late for it',
    text: `SecRule ARGS "@rx a" "id:1,phase:1,nolog,${ADD},ctl:ruleRemoveTargetById=1;ARGS"`,
    sent: { target: '/?x=a&y=a' },
    score: 2,
  },
  {
    what: 'the count of what is always empty is 0, beside other targets too',
    text: `SecRule &IP:x|ARGS:b "@streq %{tx.zero}" "id:2,phase:1,nolog,${ADD}"
      SecRule ARGS:zero "@rx ." "id:1,phase:1,nolog,setvar:tx.zero=%{MATCHED_VAR}"
      SecRule &GLOBAL:y|ARGS:b "@streq %{tx.zero}" "id:3,phase:1,nolog,${ADD}"`,
    sent: { target: '/?zero=0' },
    score: 1,
  },
  {
    what: 'what is left out of ARGS stays in ARGS_POST',
    text: `SecRule ARGS|!ARGS:/^a/|ARGS_POST "@rx b" "id:1,phase:2,nolog,${ADD}"`,
    sent: { method: 'POST', headers: FORM, body: 'a1=b1&c=b2' },
    score: 3,
  },
  {
    what: 'the variables of the score are those the text writes, whatever the level leaves of it',
    text: `SecAction "id:1,phase:1,nolog,setvar:tx.anomaly_score_pl1=3"
      SecRule TX:detection_paranoia_level "@lt 2" "id:2,phase:1,nolog,skipAfter:END"
      SecRule ARGS "@rx a" "id:3,phase:1,nolog,setvar:'tx.anomaly_score_pl1=+5'"
      SecMarker END`,
    sent: { target: '/?x=a' },
    score: 3,
  },
  {
    what: 'a rule that every request matches may be excluded, and what it jumped over then runs',
    text: `SecAction "id:1,phase:1,log,skipAfter:END"
      SecRule ARGS "@rx a" "id:2,phase:1,log,${ADD}"
      SecMarker END`,
    sent: { target: '/?x=a' },
    settings: { excludes: ['1'] },
    score: 1,
    ids: [2],
  },
  {
    what: 'a rule that denies every request may be excluded',
    text: `SecAction "id:1,phase:1,deny,log"
      SecRule ARGS "@rx a" "id:2,phase:1,log,${ADD}"`,
    sent: { target: '/?x=a' },
    settings: { exclusions: [{ id: 1, tag: null, target: null }] },
    score: 1,
    ids: [2],
  },
  {
    what: 'what comes after a denial is not done ahead',
    text: `SecRule ARGS "@rx a" "id:1,phase:1,deny,log"
      SecAction "id:2,phase:1,pass,nolog,setvar:tx.anomaly_score=+2"`,
    sent: { target: '/?x=a' },
    score: 0,
    ids: [1],
    denied: true,
  },
  {
    what: 'allow:phase beside skipAfter leaves out the rest of the phase',
    text: `SecRule ARGS "@rx a" "id:1,phase:1,allow:phase,nolog,skipAfter:ONE"
      SecRule ARGS "@rx a" "id:2,phase:1,nolog,${ADD}"
      SecMarker ONE
      SecRule ARGS "@rx a" "id:3,phase:1,nolog,${ADD}"
      SecRule ARGS "@rx a" "id:4,phase:2,log,${ADD}"`,
    sent: { target: '/?x=a' },
    score: 1,
    ids: [4],
  },
  {
    what: 'an engine that only detects allows nothing and denies nothing',
    text: `SecAction "id:1,phase:1,nolog,ctl:ruleEngine=DetectionOnly"
      SecRule ARGS "@rx a" "id:2,phase:1,allow:phase,nolog"
      SecRule ARGS "@rx a" "id:3,phase:1,allow,nolog"
      SecRule ARGS "@rx a" "id:4,phase:1,deny,log,${ADD}"
      SecRule ARGS "@rx a" "id:5,phase:2,log,${ADD}"`,
    sent: { target: '/?x=a' },
    score: 2,
    ids: [4, 5],
  },
  {
    what: 'a capture leaves no group of an earlier one',
    text: `SecRule ARGS:x "@rx (a)(b)" "id:1,phase:1,nolog,capture"
      SecRule ARGS:y "@rx (c)" "id:2,phase:1,nolog,capture"
      SecRule &TX:1 "@eq 1" "id:3,phase:1,nolog,${ADD}"
      SecRule &TX:2 "@eq 1" "id:4,phase:1,nolog,${ADD}"`,
    sent: { target: '/?x=ab&y=c' },
    score: 1,
  },
  {
    what: 'a rule may read what another captured before it captures itself',
    text: `SecRule ARGS:x "@rx (a)" "id:1,phase:1,nolog,capture"
      SecRule TX:1 "@streq a" "id:2,phase:1,nolog,capture,${ADD}"`,
    sent: { target: '/?x=a' },
    score: 1,
  },
  {
    what: 'a body that phase 2 asks for is not there: it was read before',
    text: `SecAction "id:1,phase:2,nolog,ctl:forceRequestBodyVariable=On"
      SecRule &REQUEST_BODY "@eq 1" "id:2,phase:2,nolog,${ADD}"
      SecRule REQUEST_BODY "@rx a" "id:3,phase:2,nolog,${ADD}"`,
    sent: { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'a' },
    score: 0,
  },
  {
    what: 'a body that phase 1 asks for is there',
    text: `SecAction "id:1,phase:1,nolog,ctl:forceRequestBodyVariable=On"
      SecRule &REQUEST_BODY "@eq 1" "id:2,phase:2,nolog,${ADD}"
      SecRule REQUEST_BODY "@rx a" "id:3,phase:2,nolog,${ADD}"`,
    sent: { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'a' },
    score: 2,
  },
];

const NO_DATA = { readData: () => null };
const PLAIN: WafSettings = { paranoia: 1, threshold: 5, excludes: [], exclusions: [] };

test.each(CASES)('$what', ({ text, sent, settings, score, ids = [], denied = false }) => {
  const sources = [{ file: 'case.conf', text }];
  const { program, diagnostics } = compileSignatures(sources, NO_DATA);
  if (program === null) throw new Error(JSON.stringify(diagnostics));
  for (const waf of [interpretSecLang(sources, NO_DATA), loadSignatures(program)]) {
    expect(waf.inspect(input(sent), { ...PLAIN, ...settings })).toMatchObject({ score, ids, denied });
  }
});
