/** `edgeplan hits`: prints how often each rule of a domain matched, and what dry_run rules would have changed. */
import { Command, Option } from 'commander';
import { RULE_TYPES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import { type Examples, withExamples } from '../examples.ts';
import { colourOption, jsonOption } from '../options.ts';
import { outputWidth } from '../output.ts';
import { type HitsReport, hitsLines, ofType } from '../print/hits.ts';
import { keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { callDomainApi, domainPath } from '../remote/remote-domain.ts';
import {
  followOption,
  type PeriodFlags,
  periodAt,
  periodOptions,
  printReport,
  type ReportFlags,
} from '../reports.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ServerAccess, PeriodFlags, ReportFlags {
  /** Prints rules of this type alone. */
  readonly type?: RuleType;
}

/** Columns of a line where the output has no width: as wide as a chart is useful. */
const USUAL_WIDTH = 100;

async function run(domain: string, flags: Flags): Promise<void> {
  await printReport(
    async () => {
      const now = Date.now();
      const { query, words } = periodAt(flags, now);
      const whole = await readHits(domain, query, flags);
      const report = flags.type === undefined ? whole : ofType(whole, flags.type);
      const width = Number.isFinite(outputWidth()) ? outputWidth() : USUAL_WIDTH;
      return { fields: report, lines: hitsLines(report, { width, words, now }) };
    },
    { name: 'hits', flags },
  );
}

/** Reads every page. */
async function readHits(
  domain: string,
  query: Readonly<Record<string, string>>,
  flags: Flags,
): Promise<HitsReport> {
  const rules: HitsReport['rules'][number][] = [];
  for (;;) {
    const parameters = new URLSearchParams({ ...query, cursor: String(rules.length) });
    const path = `${domainPath(domain, '/rules/hits/')}?${parameters}`;
    const { body, headers } = await callDomainApi(domain, flags, { method: 'GET', path });
    const page = body as Omit<HitsReport, 'domain'>;
    rules.push(...page.rules);
    if (!headers.has('link')) return { domain, ...page, rules };
  }
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  hits: [
    'edgeplan hits example.com',
    'edgeplan hits example.com --last 7d --type waf',
    'edgeplan hits example.com --from 2026-11-20 --to 2026-11-21 --json',
    'edgeplan hits example.com --last 2h --follow',
  ],
};

/** Creates the command. */
export function hitsCommand(): Command {
  const command = new Command('hits')
    .summary('how often each rule matched, and what dry_run rules would have changed')
    .description(
      'Lists every rule of a domain in evaluation order with its hits, the last of them, a chart over the period, and what ' +
        'it did. Below a dry_run rule: the decisions that it would have changed, and the rules that would have lost them.',
    )
    .argument('<domain>', 'its name');
  periodOptions(command)
    .addOption(new Option('--type <type>', 'only rules of this type').choices(RULE_TYPES))
    .addOption(jsonOption('hits'))
    .addOption(followOption())
    .addOption(serverOption())
    .addOption(keyOption())
    .addOption(colourOption())
    .action(run);
  return withExamples(command, EXAMPLES);
}
