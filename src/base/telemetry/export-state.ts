/**
 * Whether exports work. In: the result of each export. Out: one sentence when they begin to fail, and one when they work
 * again, however long the collector is away.
 */
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';

/** The state, shared by the exporters of a process. */
export interface ExportState {
  /** Records the result of one export. */
  record(result: ExportResult): void;
}

/** An exporter of the SDK, of spans or of metrics. */
interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
}

/** A state in which exports work. `onChange` receives the sentences. */
export function createExportState(onChange: (sentence: string) => void): ExportState {
  let failures = 0;
  return {
    record({ code, error }) {
      if (code === ExportResultCode.SUCCESS) {
        if (failures > 0)
          onChange(`the OpenTelemetry collector answers again after ${failures} failed exports`);
        failures = 0;
        return;
      }
      failures++;
      if (failures === 1) onChange(`the OpenTelemetry collector gets nothing: ${reasonOf(error)}`);
    },
  };
}

/** Records the results of an exporter; the exporter itself is changed and returned. */
export function reportExports<Items, Kind extends Exporter<Items>>(exporter: Kind, state: ExportState): Kind {
  const send = exporter.export.bind(exporter);
  exporter.export = (items, done) =>
    send(items, (result) => {
      state.record(result);
      done(result);
    });
  return exporter;
}

/** The error as a phrase; the status of a collector's refusal is its code. */
function reasonOf(error: (Error & { readonly code?: string | number }) | undefined): string {
  if (error === undefined) return 'no reason is known';
  const text = error.message === '' ? error.name : error.message;
  return error.code === undefined ? text : `${text} (${error.code})`;
}
