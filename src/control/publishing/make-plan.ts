/** From a domain's rows to the sealed plan of its next revision: rule set, compile, seal, open and run. */
import { describeDiagnostic, hasErrors } from '../../base/diagnostics/diagnostic.ts';
import { compile } from '../../engine/compiler/index.ts';
import { seal } from '../../engine/plan/seal.ts';
import { PublishFault } from './fault.ts';
import { type DomainRows, toRuleSet } from './rule-set.ts';
import { assertPublishable } from './self-test.ts';

/** @throws PublishFault `stored_rows`, `compile` or `self_test` */
export function makePlan(rows: DomainRows, revision: number): Uint8Array {
  const ruleSet = toRuleSet(rows);
  const { plan, diagnostics } = compileOrFault(ruleSet);
  if (hasErrors(diagnostics)) {
    const [first] = diagnostics.filter(({ severity }) => severity === 'error');
    throw new PublishFault(
      'compile',
      `\`${rows.domain.name}\` does not compile: ${describeDiagnostic(first!)}`,
    );
  }
  const bytes = seal(plan, { revision });
  assertPublishable(bytes, { domain: rows.domain.name, revision });
  return bytes;
}

function compileOrFault(ruleSet: Parameters<typeof compile>[0]): ReturnType<typeof compile> {
  try {
    return compile(ruleSet);
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new PublishFault('compile', `\`${ruleSet.domain.name}\` does not compile: ${said}`, { cause });
  }
}
