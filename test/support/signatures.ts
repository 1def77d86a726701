/** Signature programs from SecLang text, and requests to inspect with them. */
import { loadSignatures } from '../../src/engine/waf/load/load.ts';
import type {
  WafFinding,
  WafInput,
  WafProgram,
  WafSettings,
} from '../../src/engine/waf/request/inspection.ts';
import { compileSignatures } from '../../src/engine/waf/seclang/compile.ts';

/** The program of a text; throws what the compiler has against it. */
export function signatures(text: string): WafProgram {
  const { program, diagnostics } = compileSignatures([{ file: 'test.conf', text }], { readData: () => null });
  if (program === null) throw new Error(JSON.stringify(diagnostics));
  return loadSignatures(program);
}

/** What a request holds beside the ordinary; a body is text. */
export interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  readonly truncated?: boolean;
  readonly ip?: string;
}

export function input({ body, truncated = false, ...request }: Sent): WafInput {
  return {
    request: {
      scheme: 'https',
      method: 'GET',
      host: 'a.example',
      target: '/',
      ip: '203.0.113.7',
      ...request,
    },
    body: body === undefined ? null : new TextEncoder().encode(body),
    truncated,
  };
}

export function inspect(program: WafProgram, sent: Sent, settings: Partial<WafSettings> = {}): WafFinding {
  const plain = { paranoia: 1, threshold: 5, excludes: [], exclusions: [] };
  return program.inspect(input(sent), { ...plain, ...settings });
}
