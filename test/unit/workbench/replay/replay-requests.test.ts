/** The bots of a log's User-Agents are those that the simulator finds. */
import { expect, it } from 'vitest';
import { classifyUserAgent } from '../../../../src/base/text/user-agent.ts';
import { BOT_KINDS } from '../../../../src/base/vocabulary/vocabulary.ts';
import { createAgentClassifier } from '../../../../src/workbench/replay/replay-requests.ts';
import { withGenericBot } from '../../../../src/workbench/simulation/generic-bot.ts';
import { generateCase } from '../../../support/generate.ts';
import { loadRuleSet } from '../../../support/load.ts';

const AGENTS = [
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; GPTBot/1.0; +https://openai.com/gptbot)',
  'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
  'curl/8.1',
  'python-requests/2.31',
  '',
  `bot ${'x'.repeat(2_000)}`,
  'agent with €',
];

it('is the bot of a simulation, asked once or again', () => {
  const { ruleSet } = generateCase(1, 1);
  const evaluator = loadRuleSet(ruleSet);
  const botOf = createAgentClassifier();
  for (const agent of [...AGENTS, ...AGENTS]) {
    const request = {
      scheme: 'https',
      method: 'GET',
      host: evaluator.hosts(1)[0] ?? ruleSet.domain.name,
      target: '/',
      headers: { 'user-agent': agent },
    };
    const { bot } = withGenericBot(request, evaluator.explain);
    const kind = classifyUserAgent(agent);
    const named = kind < 0 ? null : { kind: BOT_KINDS[kind], verified: false };
    expect(botOf(agent), agent).toEqual(bot ?? named);
  }
});

it('is none without a User-Agent', () => {
  expect(createAgentClassifier()(undefined)).toBeNull();
});

it('does not depend on how many others were asked before', () => {
  const botOf = createAgentClassifier();
  for (let at = 0; at < 10_000; at++) botOf(`Mozilla/5.0 (X11; Linux x86_64; rv:${at}.0) Gecko/1 Firefox/1`);
  expect(botOf('curl/8.1')).toEqual({ kind: 'generic-bot', verified: false });
});
